// Page files of several devices change no number: each device pages what its plan says, to a file
// of its own.
#include <fstream>

#include "builders/report/rows/plan_notes.h"
#include "tests/io/temp_dir.h"
#include "tests/properties/device_meshes.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

struct DevicePaging {
  PagedKinds kinds = PagedKinds::kWeights;
  std::int64_t activations_mb = 100;
};

SmallRun PagedOn(SmallRun run, const DevicePaging& paging, const TempDir& directory) {
  run.memory.memory_page_file = directory.File("page");
  run.memory.memory_page_kinds = paging.kinds;
  run.memory.memory_page_activations_mb = paging.activations_mb;
  run.memory.memory_page_buffer_mb = 2;
  run.memory.memory_page_least_kb = 1;
  return run;
}

// Trains on the mesh as without a page file; looks at what each device paged.
void CheckPaged(const Trained& alone, const Mesh& mesh, const SmallRun& run,
                const DevicePaging& paging) {
  const TempDir directory(MemoryDirectory());
  INFO(run.network << " on " << Describe(mesh) << ", kinds " << static_cast<int>(paging.kinds)
                   << ", " << paging.activations_mb << " MB of activations");
  Model model = BuilderFor(On(mesh, PagedOn(run, paging, directory))).Build();
  CHECK(directory.Count() == 0);
  const Trained trained = Train(model);
  CheckSame(alone, trained);
  CheckDevices(model, trained.result);
  PagingTraffic sum;
  std::int64_t file_bytes = 0;
  for (std::size_t i = 0; i < model.planned().devices.size(); ++i) {
    INFO("device " << i);
    const Plan& plan = model.planned().devices[i].plan;
    CHECK(plan.paging->file == directory.File("page." + std::to_string(i)));
    CHECK(trained.result.memory.devices[i].paging->step == plan.steps.front().paged);
    sum += plan.steps.front().paged;
    file_bytes += plan.paging->file_bytes;
  }
  CHECK(sum.in_bytes > 0);
  CHECK(sum.out_bytes > 0);
  CHECK(trained.plan.steps.front().paged == sum);
  CHECK(trained.result.memory.paging->step == sum);
  CHECK(trained.plan.paging->file_bytes == file_bytes);
  const auto leaves_out = [](const std::string& note) {
    return note.find("leave the disk out") != std::string::npos;
  };
  CHECK(std::ranges::count_if(NotesOn(model.planned()), leaves_out) == 1);
  CHECK(directory.Count() == 0);
}

TEST_CASE("stages that page train as one device without a page file", "[paging][devices]") {
  for (const std::string network : {"mlp", "gpt2", "resnet18"}) {
    const SmallRun run = RunOf(network);
    constexpr std::int64_t kParts = 4;
    const Trained alone = TrainOn({.micro_batches = kParts}, run);
    for (const PipelineKind schedule : {PipelineKind::kGPipe, PipelineKind::k1F1B,
                                        PipelineKind::kZeroBubble1, PipelineKind::kZeroBubble2}) {
      for (const DevicePaging& paging :
           {DevicePaging{PagedKinds::kNone, 100}, DevicePaging{PagedKinds::kWeights, 0},
            DevicePaging{PagedKinds::kWeights, 100}}) {
        const Mesh mesh = {
            .devices = 3, .micro_batches = kParts, .pipelined = true, .schedule = schedule};
        CheckPaged(alone, mesh, run, paging);
      }
    }
    CheckPaged(alone,
               {.devices = 2,
                .micro_batches = kParts,
                .strategy = ShardingStrategy::kMemoryBalanced,
                .checkpointing = true},
               run, {});
  }
}

TEST_CASE("replicas that page train as one device without a page file", "[paging][devices]") {
  for (const std::string network : {"mlp", "gpt2"}) {
    for (const bool clips : {false, true}) {
      SmallRun run = RunOf(network);
      run.optimizer.kind = OptimizerKind::kAdamW;
      run.clip = clips ? 0.5 : 0;
      const Trained alone = TrainOn({.micro_batches = 4, .groups = 2}, run);
      for (const std::int64_t stage : {0, 1, 2, 3}) {
        const Mesh mesh = {
            .devices = 2, .micro_batches = 2, .replicas = 2, .zero_stage = stage, .bucket_kb = 4};
        CheckPaged(alone, mesh, run, {});
        CheckPaged(alone, mesh, run, {PagedKinds::kOptimizerState, 0});
        if (stage == 3 && SharesWeights(network)) continue;
        const Mesh stages = {.devices = 4,
                             .micro_batches = 2,
                             .pipelined = true,
                             .replicas = 2,
                             .zero_stage = stage};
        CheckPaged(alone, stages, run, {});
      }
    }
  }
}

TEST_CASE("replicas page in bf16, and moving averages, as without", "[paging][devices]") {
  SmallRun run = RunOf("gpt2");
  run.precision = Precision::kBF16;
  const Trained alone = TrainOn({.micro_batches = 4, .groups = 2}, run);
  for (const std::int64_t stage : {2, 3}) {
    CheckPaged(alone, {.devices = 2, .micro_batches = 2, .replicas = 2, .zero_stage = stage}, run,
               {});
  }
  run = RunOf("gpt2");
  run.optimizer.ema_decay = 0.9;
  CheckPaged(TrainOn({.micro_batches = 4}, run),
             {.devices = 2, .micro_batches = 4, .pipelined = true}, run, {});
}

TEST_CASE("a page file has room for the parts of a batch that are in flight", "[paging][devices]") {
  const TempDir directory(MemoryDirectory());
  const auto bytes_of = [&](PipelineKind schedule) {
    const Mesh mesh = {.devices = 2, .micro_batches = 8, .pipelined = true, .schedule = schedule};
    SmallRun run = PagedOn(RunOf("mlp"), {PagedKinds::kNone, 100}, directory);
    run.batch = 64;
    const Model model = BuilderFor(On(mesh, run)).Build();
    const Plan& plan = model.planned().devices.front().plan;
    return std::pair(plan.paging->file_bytes, model.plan().devices->devices.front().in_flight);
  };
  const auto [few_bytes, few] = bytes_of(PipelineKind::k1F1B);
  const auto [all_bytes, all] = bytes_of(PipelineKind::kGPipe);
  CHECK(few == 2);
  CHECK(all == 8);
  CHECK(few_bytes > 0);
  CHECK(all_bytes * few == few_bytes * all);
}

TEST_CASE("snapshots go from page files of devices to memory and back", "[paging][devices]") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunOf("gpt2");
  run.max_steps = 6;
  const Mesh mesh = {.devices = 2, .micro_batches = 2, .pipelined = true};
  const auto samples = [&](std::int64_t step) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < run.batch; ++i) numbers.push_back(step * run.batch + i);
    return numbers;
  };
  for (const bool saved_paged : {true, false}) {
    INFO("saved from page files: " << saved_paged);
    const std::string snapshot = directory.File(std::to_string(saved_paged));
    const auto build = [&](bool is_paged) {
      return BuilderFor(On(mesh, is_paged ? PagedOn(run, {}, directory) : run)).Build();
    };
    Model model = build(saved_paged);
    for (std::int64_t step = 0; step < 3; ++step) model.TrainStep(samples(step));
    model.SaveSnapshot(snapshot);
    Model resumed = build(!saved_paged);
    resumed.Resume(snapshot);
    CHECK(resumed.WeightsHash() == model.WeightsHash());
    CHECK(resumed.TrainStep(samples(3)).loss == model.TrainStep(samples(3)).loss);
    CHECK(resumed.WeightsHash() == model.WeightsHash());
  }
}

TEST_CASE("a disk that fails under a device's page file ends the training with its name",
          "[paging][devices]") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = On({.devices = 2, .micro_batches = 2, .pipelined = true}, RunOf("mlp"));
  run = PagedOn(run, {}, directory);
  // The first file is made and filled, or both are and a step runs.
  for (const std::size_t call : {1, 3, 40}) {
    FailingFileSystem files({.error = ENOSPC, .lasts = true, .call = call});
    const FileSystemScope scope(files);
    const std::string message = MessageOf<FileError>([&] { Train(run); });
    INFO("call " << call << ": " << message);
    CheckContains(message, directory.File("page."));
    CheckContains(message, "No space left on device");
    CHECK(directory.Count() == 0);
  }
}

TEST_CASE("a file where a device's page file would be is left as it is", "[paging][devices]") {
  const TempDir directory(MemoryDirectory());
  const std::string there = directory.File("page.1");
  std::ofstream(there) << "mine";
  SmallRun run = On({.devices = 2, .micro_batches = 2, .pipelined = true}, RunOf("mlp"));
  run = PagedOn(run, {}, directory);
  const std::string message = MessageOf<FileError>([&] { BuilderFor(run).Build(); });
  CheckContains(message, there);
  CheckContains(message, "File exists");
  CHECK(ReadAll(there) == "mine");
  CHECK(directory.Count() == 1);
}

}  // namespace
}  // namespace frugal::testing
