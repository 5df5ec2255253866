// The promises on several devices: one loss curve and the same weights on every mesh, planned bytes
// are measured bytes on every device.
#include "builders/plan/planner.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

using Catch::Matchers::Contains;

SmallRun RunOf(const std::string& network) {
  SmallRun run;
  run.network = network;
  run.batch = 8;
  run.max_steps = 3;
  run.threads = 1;
  return run;
}

// A way to run the same training.
struct Mesh {
  std::int64_t devices = 1;
  std::int64_t micro_batches = 1;
  bool pipelined = false;
  PipelineKind schedule = PipelineKind::k1F1B;
  ShardingStrategy strategy = ShardingStrategy::kEvenSplit;
  bool checkpointing = false;
  std::int64_t replicas = 1;
  std::int64_t groups = 1;  // of one replica
};

SmallRun On(const Mesh& mesh, SmallRun run) {
  run.memory.num_devices = mesh.devices;
  run.memory.use_pipeline_parallelism = mesh.pipelined;
  run.memory.sharding_strategy = mesh.strategy;
  run.memory.use_gradient_checkpointing = mesh.checkpointing;
  if (mesh.pipelined) {
    run.memory.micro_batch_count = mesh.micro_batches;
  } else {
    run.accumulate = mesh.micro_batches;
  }
  run.sharding = {.data_parallel = mesh.replicas, .schedule = mesh.schedule};
  if (mesh.groups > 1) run.sharding.reduction_groups = mesh.groups;
  return run;
}

std::string Describe(const Mesh& mesh) {
  return std::to_string(mesh.devices) + " devices, " + std::to_string(mesh.replicas) +
         " replicas, " + std::to_string(mesh.micro_batches) + " micro-batches, " +
         (mesh.pipelined ? std::string(NameOf(mesh.schedule)) : "one after the other") +
         (mesh.strategy == ShardingStrategy::kEvenSplit ? ", even" : ", balanced") +
         (mesh.checkpointing ? ", checkpointed" : "");
}

void CheckDevices(const Model& model, const TrainingResult& result) {
  const auto& devices = model.planned().devices;
  REQUIRE(result.memory.devices.size() == devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    INFO("device " << i);
    const Plan& plan = devices[i].plan;
    const MemoryMeasurement& measured = result.memory.devices[i];
    CHECK(plan.peak_bytes == measured.peak_bytes);
    for (const MemoryTag tag : kAllMemoryTags) {
      INFO("purpose " << NameOf(tag));
      CHECK(plan.peak_by_purpose[tag] == measured.peak_by_purpose[tag]);
      CHECK(plan.at_peak[tag] == measured.at_peak[tag]);
    }
  }
}

// Trains and returns what was computed; on the way, checks the plan of every device.
Trained TrainOn(const Mesh& mesh, const SmallRun& run) {
  Model model = BuilderFor(On(mesh, run)).Build();
  Trained trained;
  trained.plan = model.plan();
  trained.result = model.Train();
  for (const Parameter* parameter : model.parameters()) {
    trained.values.push_back(model.Values(parameter->path));
    trained.gradients.push_back(model.LastGradient(parameter->path));
  }
  if (mesh.devices > 1) CheckDevices(model, trained.result);
  return trained;
}

std::vector<Mesh> MeshesOf(std::int64_t micro_batches) {
  std::vector<Mesh> meshes;
  for (const std::int64_t devices : {2, 3, 4}) {
    meshes.push_back({.devices = devices, .micro_batches = micro_batches});
    for (const PipelineKind schedule : {PipelineKind::kGPipe, PipelineKind::k1F1B,
                                        PipelineKind::kZeroBubble1, PipelineKind::kZeroBubble2}) {
      for (const bool checkpointing : {false, true}) {
        meshes.push_back({.devices = devices,
                          .micro_batches = micro_batches,
                          .pipelined = true,
                          .schedule = schedule,
                          .checkpointing = checkpointing});
      }
    }
  }
  for (const std::int64_t devices : {2, 4}) {
    meshes.push_back({.devices = devices,
                      .micro_batches = micro_batches,
                      .pipelined = true,
                      .strategy = ShardingStrategy::kMemoryBalanced});
  }
  return meshes;
}

// The sums of a gradient that stages share go by stage where there are several micro-batches, which
// one device has no memory for: then the numbers are those of any other mesh, and close to its.
bool SharesWeights(const std::string& network) { return network == "gpt2"; }

void CheckClose(const Trained& a, const Trained& b) {
  for (std::size_t i = 0; i < a.result.losses.size(); ++i) {
    CHECK(a.result.losses[i] == Approx(b.result.losses[i]).epsilon(1e-5));
  }
}

void CheckOnEveryMesh(const SmallRun& run, std::int64_t micro_batches) {
  const Trained alone = TrainOn({.micro_batches = micro_batches}, run);
  REQUIRE(alone.result.losses.front() != alone.result.losses.back());
  const bool by_stage = SharesWeights(run.network) && micro_batches > 1;
  const Trained first =
      by_stage ? TrainOn({.devices = 2, .micro_batches = micro_batches}, run) : alone;
  CheckClose(alone, first);
  for (const Mesh& mesh : MeshesOf(micro_batches)) {
    INFO(run.network << " on " << Describe(mesh));
    CheckSame(first, TrainOn(mesh, run));
  }
}

TEST_CASE("one loss curve and the same weights on every mesh", "[devices]") {
  for (const std::string network : {"mlp", "convnet"}) {
    for (const std::int64_t micro_batches : {1, 3, 4})
      CheckOnEveryMesh(RunOf(network), micro_batches);
  }
  for (const std::string network : {"gpt2", "vit"}) {
    for (const std::int64_t micro_batches : {1, 4}) CheckOnEveryMesh(RunOf(network), micro_batches);
  }
}

TEST_CASE("a network of blocks trains the same on several devices", "[devices]") {
  for (const std::string network :
       {"resnet", "resnet18", "llama", "bert", "decoder", "recurrent"}) {
    SmallRun run = RunOf(network);
    const Trained alone = TrainOn({.micro_batches = 2}, run);
    for (const Mesh& mesh : {Mesh{.devices = 2, .micro_batches = 2, .pipelined = true},
                             Mesh{.devices = 3, .micro_batches = 2}}) {
      INFO(network << " on " << Describe(mesh));
      CheckSame(alone, TrainOn(mesh, run));
    }
  }
}

TEST_CASE("replicas come to the same weights on every mesh of as many", "[devices]") {
  for (const std::string network : {"mlp", "gpt2"}) {
    SmallRun run = RunOf(network);
    const std::int64_t stages = SharesWeights(network) ? 2 : 1;
    const Trained two = TrainOn({.devices = 2 * stages, .micro_batches = 2, .replicas = 2}, run);
    for (const Mesh& mesh :
         {Mesh{.devices = 4, .micro_batches = 2, .replicas = 2},
          Mesh{.devices = 4, .micro_batches = 2, .pipelined = true, .replicas = 2},
          Mesh{.devices = 6,
          .micro_batches = 2,
          .pipelined = true,
          .schedule = PipelineKind::kGPipe,
          .checkpointing = true,
          .replicas = 2}}) {
      INFO(network << " on " << Describe(mesh));
      CheckSame(two, TrainOn(mesh, run));
    }
    // Without groups the sums differ by rounding, since they have another order.
    CheckClose(two, TrainOn({.micro_batches = 4}, run));
  }
}

TEST_CASE("one device sums in groups as replicas do, and so do stages", "[devices]") {
  for (const std::string network : {"mlp", "gpt2", "vit"}) {
    SmallRun run = RunOf(network);
    for (const std::int64_t groups : {2, 4}) {
      const Trained alone = TrainOn({.micro_batches = 8, .groups = groups}, run);
      std::vector<Mesh> meshes = {
          {.devices = groups, .micro_batches = 8 / groups, .replicas = groups}};
      if (!SharesWeights(network)) {
        meshes.push_back({.devices = 3, .micro_batches = 8, .pipelined = true, .groups = groups});
        meshes.push_back({.devices = 2, .micro_batches = 8, .groups = groups});
        meshes.push_back({.devices = 2 * groups,
                          .micro_batches = 8 / groups,
                          .pipelined = true,
                          .replicas = groups});
        meshes.push_back({.devices = 2 * groups,
                          .micro_batches = 8 / groups,
                          .pipelined = true,
                          .schedule = PipelineKind::kZeroBubble1,
                          .replicas = groups});
      }
      for (const Mesh& mesh : meshes) {
        INFO(network << " on " << Describe(mesh) << ", " << groups << " groups");
        CheckSame(alone, TrainOn(mesh, run));
      }
    }
  }
}

TEST_CASE("every device trains its plan under every preset", "[devices]") {
  const TempDir directory;
  for (const std::string network : {"mlp", "gpt2"}) {
    SmallRun run = RunOf(network);
    BuilderFor(run).Build().SaveWeights(directory.File("weights"));
    const Trained alone =
        TrainOn({.devices = SharesWeights(network) ? 2 : 1, .micro_batches = 2}, run);
    for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
      for (const std::int64_t devices : {2, 4}) {
        INFO(network << " " << name << " on " << devices);
        SmallRun preset = run;
        preset.memory = memory;
        preset.memory.num_devices = devices;
        preset.memory.use_pipeline_parallelism = true;
        preset.memory.micro_batch_count = 2;
        Model model = BuilderFor(preset).Build();
        const TrainingResult result = model.Train();
        CheckDevices(model, result);
        CHECK(result.losses == alone.result.losses);
        CHECK(result.weights_hash == alone.result.weights_hash);
      }
    }
  }
}

TEST_CASE("a plan that is printed is that of the run, device by device", "[devices]") {
  for (const Mesh& mesh :
       {Mesh{.devices = 4, .micro_batches = 2, .pipelined = true, .replicas = 2},
        Mesh{.devices = 6, .micro_batches = 1, .replicas = 3}, Mesh{.devices = 3}}) {
    INFO(Describe(mesh));
    SmallRun run = On(mesh, RunOf("gpt2"));
    run.batch = 7;  // replicas have different numbers of samples
    const AiModelBuilder builder = BuilderFor(run);
    const DataLayout layout = LayoutFor("gpt2");
    const Plan printed = PlanTraining(builder.config(), &layout, PlanPurpose::kPrint).plan;
    const PlannedTraining whole = PlanTraining(builder.config(), &layout);
    CHECK(printed.peak_bytes == whole.plan.peak_bytes);
    for (std::size_t i = 0; i < whole.devices.size(); ++i) {
      INFO("device " << i);
      const DevicePlan& device = printed.devices->devices[i];
      CHECK(device.peak_bytes == whole.devices[i].plan.peak_bytes);
      CHECK(device.at_peak == whole.devices[i].plan.at_peak);
      CHECK(device.sent.Total() == whole.plan.devices->devices[i].sent.Total());
      CHECK(device.flops == whole.plan.devices->devices[i].flops);
    }
  }
}

TEST_CASE("a step that ran can be laid beside its plan, slot for slot", "[devices]") {
  Model model = BuilderFor(On({.devices = 2,
                               .micro_batches = 4,
                               .pipelined = true,
                               .schedule = PipelineKind::kZeroBubble1},
                              RunOf("gpt2")))
                    .Build();
  const TrainingResult result = model.Train();
  REQUIRE(result.pipeline);
  const DevicesPlan& plan = *model.plan().devices;
  REQUIRE(result.pipeline->slots.size() == plan.schedule.stages.size());
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const auto& slots = result.pipeline->slots[stage];
    REQUIRE(slots.size() == plan.schedule.stages[stage].size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      CHECK(slots[i].begin <= slots[i].end);
      if (i > 0) CHECK(slots[i - 1].end <= slots[i].begin);
    }
  }
  // A stage works on what the one before it has made.
  CHECK(result.pipeline->slots[0][0].end <= result.pipeline->slots[1][0].begin);
}

TEST_CASE("every device sends what is planned", "[devices]") {
  for (const std::string network : {"mlp", "gpt2", "resnet"}) {
    for (const Mesh& mesh : {Mesh{.devices = 3, .micro_batches = 4, .pipelined = true},
                             Mesh{.devices = 4, .micro_batches = 1, .replicas = 2}}) {
      if (network == "resnet" && mesh.replicas > 1) continue;
      INFO(network << " on " << Describe(mesh));
      AiModelBuilder builder = BuilderFor(On(mesh, RunOf(network)));
      Model model = builder.Override({"training.evaluate=false"}).Build();
      const TrainingResult result = model.Train();
      for (std::size_t i = 0; i < result.memory.devices.size(); ++i) {
        INFO("device " << i);
        const Traffic sent = model.plan().devices->devices[i].sent.Total();
        CHECK(sent.bytes > 0);
        CHECK(result.memory.devices[i].sent.bytes == result.steps * sent.bytes);
        CHECK(result.memory.devices[i].sent.messages == result.steps * sent.messages);
      }
    }
  }
}

TEST_CASE("batches that do not divide, averages and evaluations are those of one device",
          "[devices]") {
  SmallRun run = RunOf("mlp");
  run.batch = 10;
  run.drop_last = false;
  run.max_steps = 100;
  run.optimizer.ema_decay = 0.9;
  const Trained alone = TrainOn({.micro_batches = 4}, run);
  for (const std::int64_t devices : {2, 3}) {
    CheckSame(alone, TrainOn({.devices = devices, .micro_batches = 4, .pipelined = true}, run));
  }
}

TEST_CASE("a model on several devices predicts, saves, loads and is copied", "[devices]") {
  const TempDir directory;
  const SmallRun run = RunOf("gpt2");
  Model alone = BuilderFor(run).Build();
  Model model = BuilderFor(On({.devices = 3}, run)).Build();
  CHECK(model.WeightsHash() == alone.WeightsHash());
  const std::vector<std::int64_t> tokens = {1, 2, 3, 4, 5, 6};
  CHECK(model.PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  model.Train();
  model.SaveWeights(directory.File("w.safetensors"));
  alone.LoadWeights(directory.File("w.safetensors"));
  CHECK(model.PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  Model fresh = BuilderFor(On({.devices = 2}, run)).Build();
  fresh.LoadWeights(directory.File("w.safetensors"));
  CHECK(fresh.PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  CHECK(fresh.Clone().PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  CHECK_THROWS_AS(model.Generate(tokens, {}), UsageError);
}

TEST_CASE("what cannot run on several devices is refused before anything starts", "[devices]") {
  const auto refusal = [](const Mesh& mesh, const SmallRun& run) -> std::string {
    try {
      BuilderFor(On(mesh, run)).Plan();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal({.devices = 3, .replicas = 2}, RunOf("mlp"))
            .find("[sharding] data_parallel replicas share the devices evenly") !=
        std::string::npos);
  CHECK(refusal({.devices = 2, .replicas = 2}, RunOf("convnet")).find("batch norms") !=
        std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 9, .pipelined = true}, RunOf("mlp"))
            .find("every micro-batch of a step has a sample") != std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 4, .replicas = 1, .groups = 3}, RunOf("mlp"))
            .find("groups have as many micro-batches each") != std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 4, .replicas = 2, .groups = 4}, RunOf("mlp"))
            .find("replicas are the groups") != std::string::npos);
  CHECK(refusal({.devices = 2,
                 .micro_batches = 4,
                 .pipelined = true,
                 .schedule = PipelineKind::kZeroBubble1,
                 .groups = 2},
                RunOf("mlp"))
            .find("gradients of a group are all there before those of the next begin") !=
        std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 4, .groups = 2}, RunOf("gpt2"))
            .find("weights that stages share are summed behind the step") != std::string::npos);
  CHECK(refusal({.devices = 30}, RunOf("mlp")).find("every device holds a layer") !=
        std::string::npos);
  TrainingMemoryConfig small;
  small.num_devices = 2;
  small.max_memory_per_device_mb = 1;
  AiModelBuilder builder = BuilderFor(RunOf("mlp"));
  builder.Memory(small).Layers(
      [](LayerList& l) { l.Flatten().Dense({.units = 2000}).Dense({.units = 5}); });
  CHECK_THROWS_WITH(
      builder.Plan(),
      Contains("every device stays within 1.0 MB; device 0 with layers 0 to 1 peaks at "));
}

}  // namespace
}  // namespace frugal::testing
