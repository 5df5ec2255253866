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

TEST_CASE("replicas that share the optimizer's state come to the same weights", "[devices]") {
  for (const std::string network : {"mlp", "gpt2"}) {
    for (const bool clips : {false, true}) {
      SmallRun run = RunOf(network);
      run.optimizer.kind = OptimizerKind::kAdamW;
      run.clip = clips ? 0.5 : 0;
      for (const Mesh& mesh :
           {Mesh{.devices = 2, .micro_batches = 2, .replicas = 2},
            Mesh{.devices = 4, .micro_batches = 2, .pipelined = true, .replicas = 2},
            Mesh{.devices = 3, .replicas = 3}}) {
        INFO(network << " on " << Describe(mesh) << ", clips " << clips);
        Mesh sharded = mesh;
        sharded.zero_stage = 1;
        const Trained whole = TrainOn(mesh, run), part = TrainOn(sharded, run);
        CheckSame(whole, part);
        std::int64_t of_whole = 0, of_part = 0, largest = 0;
        for (const MemoryMeasurement& device : whole.result.memory.devices) {
          of_whole += device.peak_by_purpose[MemoryTag::kOptimizerState];
        }
        for (const MemoryMeasurement& device : part.result.memory.devices) {
          of_part += device.peak_by_purpose[MemoryTag::kOptimizerState];
          largest = std::max(largest, device.peak_by_purpose[MemoryTag::kOptimizerState]);
        }
        CHECK(of_part * mesh.replicas == of_whole);
        CHECK(largest < of_whole / mesh.replicas);
        const DevicesPlan& plan = *part.plan.devices;
        for (std::size_t i = 0; i < plan.devices.size(); ++i) {
          CHECK(part.result.memory.devices[i].sent.bytes ==
                part.result.steps * plan.devices[i].sent.Total().bytes);
        }
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

}  // namespace
}  // namespace frugal::testing
