// A page file changes where bytes lie and no number: what is planned to be paged is paged.
#include <filesystem>

#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

TrainingMemoryConfig Paged(TrainingMemoryConfig memory, PagedKinds kinds,
                           const TempDir& directory) {
  memory.memory_page_file = directory.File("page");
  memory.memory_page_kinds = kinds;
  memory.memory_page_buffer_mb = 2;
  memory.memory_page_least_kb = 1;
  return memory;
}

void CheckPaging(const Trained& plain, const Trained& paged) {
  CheckSame(plain, paged);
  CheckPlanIsRun(paged.plan, paged.result, paged.result.memory.arena_bytes > 0);
  REQUIRE(paged.plan.paging);
  CHECK(paged.plan.paging->tensors.size() + paged.plan.paging->activations.size() > 0);
  CHECK(paged.result.memory.paging->step == paged.plan.steps.front().paged);
  CHECK(paged.result.memory.paging->step.in_bytes > 0);
}

struct PagedCase {
  std::string name;
  std::function<void(SmallRun&)> change;
};

std::vector<PagedCase> Cases() {
  return {
      {"plain", [](SmallRun&) {}},
      {"updated in backward",
       [](SmallRun& run) {
         run.memory.optimizer_in_backward = true;
         run.clip = 0;
       }},
      {"recomputed",
       [](SmallRun& run) {
         run.memory.use_gradient_checkpointing = true;
         run.memory.checkpoint_planning = CheckpointPlanning::kLeastPeak;
       }},
      {"in parts", [](SmallRun& run) { run.accumulate = 2; }},
      {"from the heap", [](SmallRun& run) { run.memory.use_activation_pooling = false; }},
      {"lazy",
       [](SmallRun& run) {
         run.memory.default_initialization_strategy = InitializationStrategy::kLazy;
       }},
      {"8-bit state", [](SmallRun& run) { run.optimizer.state = StateFormat::k8Bit; }},
      {"averaged", [](SmallRun& run) { run.optimizer.ema_decay = 0.9; }},
      {"momentum",
       [](SmallRun& run) {
         run.optimizer.kind = "sgd";
         run.optimizer.momentum = 0.9;
       }},
  };
}

TEST_CASE("a page file changes no bit, and pages what is planned", "[paging]") {
  const TempDir directory(MemoryDirectory());
  for (const std::string network : {"mlp", "resnet", "gpt2", "resnet18"}) {
    for (const PagedCase& one : Cases()) {
      SmallRun run;
      run.network = network;
      one.change(run);
      const Trained plain = Train(run);
      for (const auto& [kinds, activations] :
           std::vector<std::pair<PagedKinds, std::int64_t>>{{PagedKinds::kOptimizerState, 0},
                                                            {PagedKinds::kWeights, 0},
                                                            {PagedKinds::kNone, 1},
                                                            {PagedKinds::kWeights, 100}}) {
        INFO(network << ", " << one.name << ", kinds " << static_cast<int>(kinds) << ", "
                     << activations << " MB of activations");
        SmallRun paged = run;
        paged.memory = Paged(run.memory, kinds, directory);
        paged.memory.memory_page_activations_mb = activations;
        CheckPaging(plain, Train(paged));
        CHECK(directory.Count() == 0);
      }
    }
  }
}

TEST_CASE("a page file changes no bit of bf16 products", "[paging]") {
  const TempDir directory(MemoryDirectory());
  SmallRun run;
  run.network = "gpt2";
  run.precision = Precision::kBF16;
  const Trained plain = Train(run);
  run.memory = Paged(run.memory, PagedKinds::kWeights, directory);
  CheckPaging(plain, Train(run));
}

TEST_CASE("paging takes bytes from the peak, and says which", "[paging]") {
  const TempDir directory(MemoryDirectory());
  std::vector<std::int64_t> peaks;
  for (const PagedKinds kinds :
       {PagedKinds::kNone, PagedKinds::kOptimizerState, PagedKinds::kWeights}) {
    AiModelBuilder builder = BuilderFor({});
    TrainingMemoryConfig memory;
    memory.optimizer_in_backward = true;
    if (kinds != PagedKinds::kNone) memory = Paged(memory, kinds, directory);
    builder.Memory(memory).Training({.batch_size = 8, .clip_gradient_norm = 0});
    builder.Layers([](LayerList& l) {
      l.Flatten();
      for (int i = 0; i < 8; ++i) l.Dense({.units = 1000, .activation = Activation::kRelu});
      l.Dense({.units = 5});
    });
    const Plan plan = builder.Plan().plan;
    peaks.push_back(plan.peak_bytes);
    if (kinds == PagedKinds::kNone) continue;
    CHECK(plan.paging->tensors.front().bytes == 8'000'000);
    const bool weights = std::ranges::any_of(plan.paging->tensors, [](const Holder& tensor) {
      return tensor.tag == MemoryTag::kParameter;
    });
    CHECK(weights == (kinds == PagedKinds::kWeights));
  }
  CHECK(peaks[0] - peaks[1] > 45'000'000);  // of 58 MB of state what one update does not need
  CHECK(peaks[1] - peaks[2] > 15'000'000);  // of 29 MB of weights
}

TEST_CASE("activations that are paged leave the peak", "[paging]") {
  const TempDir directory(MemoryDirectory());
  std::vector<std::int64_t> peaks;
  for (const std::int64_t megabytes : {0, 2, 100}) {
    TrainingMemoryConfig memory = Paged({}, PagedKinds::kNone, directory);
    memory.memory_page_activations_mb = megabytes;
    SmallRun run;
    run.memory = memory;
    const DataLayout layout = SyntheticLayout(256, 0);
    AiModelBuilder builder = BuilderFor(run);
    builder.Data(layout, SyntheticSources(layout)).Training({.batch_size = 256, .evaluate = false});
    builder.Layers([](LayerList& l) {
      l.Conv2d({.filters = 8, .kernel = {3}, .padding = {1}});
      for (int i = 0; i < 8; ++i) {
        l.Conv2d({.filters = 8, .kernel = {3}, .padding = {1}}).Activation(Activation::kTanh);
      }
      l.Flatten().Dense({.units = 5});
    });
    Model model = builder.Build();
    const TrainingResult result = model.Train();
    CheckPlanIsRun(model.plan(), result, true);
    peaks.push_back(model.plan().peak_bytes);
    std::int64_t paged = 0;
    if (model.plan().paging) {
      for (const Holder& kept : model.plan().paging->activations) paged += kept.bytes;
    }
    CHECK(paged <= megabytes << 20);
    CHECK((paged > 0) == (megabytes > 0));
  }
  CHECK(peaks[0] + (2 << 20) - peaks[1] >= 1'500'000);  // the pieces take 2 MB
  CHECK(peaks[1] - peaks[2] >= 1'500'000);
}

TEST_CASE("weights that are paged are read, set, copied and saved like others", "[paging]") {
  const TempDir directory(MemoryDirectory());
  SmallRun run;
  run.network = "resnet";
  run.optimizer.ema_decay = 0.9;
  Model plain = BuilderFor(run).Build();
  run.memory = Paged(run.memory, PagedKinds::kWeights, directory);
  Model paged = BuilderFor(run).Build();
  plain.Train();
  paged.Train();
  CHECK(plain.WeightsHash() == paged.WeightsHash());
  const std::string path = plain.parameters().front()->path;
  std::vector<double> values = plain.Values(path);
  CHECK(values == paged.Values(path));
  values[0] = 42;
  paged.SetValues(path, values);
  CHECK(paged.Values(path) == values);
  plain.SaveWeights(directory.File("w.safetensors"));
  paged.LoadWeights(directory.File("w.safetensors"));
  paged.SaveWeights(directory.File("again.safetensors"));
  CHECK(ReadAll(directory.File("w.safetensors")) == ReadAll(directory.File("again.safetensors")));
  Model copy = BuilderFor(run).Build();
  copy.CopyWeights(plain);
  CHECK(copy.Values(path) == paged.Values(path));
  CHECK(paged.Clone().WeightsHash() == paged.WeightsHash());
}

TEST_CASE("snapshots go from a page file to memory and back", "[paging][snapshot]") {
  const TempDir directory(MemoryDirectory());
  SmallRun run;
  run.network = "gpt2";
  run.optimizer.ema_decay = 0.9;
  run.max_steps = 6;
  const Trained whole = Train(run);
  for (const bool saved_paged : {true, false}) {
    for (const bool resumed_paged : {true, false}) {
      INFO("saved from a page file: " << saved_paged << ", resumed in one: " << resumed_paged);
      const std::string snapshot =
          directory.File(std::to_string(saved_paged) + std::to_string(resumed_paged));
      const auto with = [&](bool is_paged) {
        SmallRun one = run;
        if (is_paged) one.memory = Paged(run.memory, PagedKinds::kWeights, directory);
        return one;
      };
      SmallRun first = with(saved_paged);
      Model model = BuilderFor(first).Build();
      for (std::int64_t step = 0; step < 3; ++step) {
        std::vector<std::int64_t> samples;
        for (std::int64_t i = 0; i < run.batch; ++i) samples.push_back(step * run.batch + i);
        model.TrainStep(samples);
      }
      model.SaveSnapshot(snapshot);
      Model resumed = BuilderFor(with(resumed_paged)).Build();
      resumed.Resume(snapshot);
      CHECK(resumed.WeightsHash() == model.WeightsHash());
      std::vector<std::int64_t> samples(static_cast<std::size_t>(run.batch), 1);
      CHECK(resumed.TrainStep(samples).loss == model.TrainStep(samples).loss);
      CHECK(resumed.WeightsHash() == model.WeightsHash());
    }
  }
}

TEST_CASE("a disk that fails under a page file ends the training with its name", "[paging]") {
  const TempDir directory(MemoryDirectory());
  SmallRun run;
  run.network = "mlp";
  run.memory = Paged(run.memory, PagedKinds::kWeights, directory);
  for (const std::size_t call : {1, 3, 4, 30}) {
    FailingFileSystem files({.error = ENOSPC, .lasts = true, .call = call});
    const FileSystemScope scope(files);
    const std::string message = MessageOf<FileError>([&] { Train(run); });
    INFO("call " << call << ": " << message);
    CheckContains(message, directory.File("page"));
    CheckContains(message, "No space left on device");
    CHECK(directory.Count() == 0);
  }
}

}  // namespace
}  // namespace frugal::testing
