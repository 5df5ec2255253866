// The promises on several devices: one loss curve and the same weights on every mesh, planned bytes
// are measured bytes on every device.
#include "tests/io/temp_dir.h"
#include "tests/properties/device_meshes.h"

namespace frugal::testing {
namespace {

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

void CheckOnEveryMesh(const SmallRun& run, std::int64_t micro_batches) {
  const Trained alone = TrainOn({.micro_batches = micro_batches}, run);
  REQUIRE(alone.result.losses.front() != alone.result.losses.back());
  for (const Mesh& mesh : MeshesOf(micro_batches)) {
    INFO(run.network << " on " << Describe(mesh));
    CheckSame(alone, TrainOn(mesh, run));
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

TEST_CASE("every device trains its plan under every preset", "[devices]") {
  const TempDir directory;
  for (const std::string network : {"mlp", "gpt2"}) {
    SmallRun run = RunOf(network);
    BuilderFor(run).Build().SaveWeights(directory.File("weights"));
    const Trained alone = TrainOn({.micro_batches = 2}, run);
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

}  // namespace
}  // namespace frugal::testing
