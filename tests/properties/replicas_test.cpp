// Replicas of a network come to the bits of one device that sums in as many groups, whatever they
// share of its state, and each holds and sends what is planned.
#include "tests/properties/device_meshes.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

// Returns meshes of so many replicas and micro-batches in all.
std::vector<Mesh> MeshesOf(std::int64_t replicas, std::int64_t micro_batches) {
  const std::int64_t each = micro_batches / replicas;
  std::vector<Mesh> meshes = {{.devices = replicas, .micro_batches = each, .replicas = replicas}};
  for (const PipelineKind schedule :
       {PipelineKind::k1F1B, PipelineKind::kGPipe, PipelineKind::kZeroBubble1}) {
    meshes.push_back({.devices = 2 * replicas,
                      .micro_batches = each,
                      .pipelined = true,
                      .schedule = schedule,
                      .checkpointing = schedule == PipelineKind::kGPipe,
                      .replicas = replicas});
  }
  return meshes;
}

TEST_CASE("one device sums in groups as replicas do, and so do stages", "[devices]") {
  for (const std::string network : {"mlp", "gpt2", "vit", "convnet"}) {
    const SmallRun run = RunOf(network);
    for (const std::int64_t groups : {2, 4}) {
      if (network == "convnet" && groups == 4) continue;  // a sample is too few for a batch norm
      const std::int64_t micro_batches = network == "convnet" ? 4 : 8;
      const Trained alone = TrainOn({.micro_batches = micro_batches, .groups = groups}, run);
      std::vector<Mesh> meshes = MeshesOf(groups, micro_batches);
      if (!SharesWeights(network)) {
        meshes.push_back(
            {.devices = 3, .micro_batches = micro_batches, .pipelined = true, .groups = groups});
        meshes.push_back({.devices = 2, .micro_batches = micro_batches, .groups = groups});
      }
      for (const Mesh& mesh : meshes) {
        INFO(network << " on " << Describe(mesh) << ", " << groups << " groups");
        CheckSame(alone, TrainOn(mesh, run));
      }
    }
  }
}

TEST_CASE("batch norms of replicas move as those of one device", "[devices]") {
  for (const std::string network : {"resnet", "resnet18", "convnet"}) {
    const SmallRun run = RunOf(network);
    const Trained alone = TrainAndCheckTraffic({.micro_batches = 4, .groups = 2}, run);
    for (const Mesh& mesh : {Mesh{.devices = 2, .micro_batches = 2, .replicas = 2},
                             Mesh{.devices = 2, .micro_batches = 2, .replicas = 2, .zero_stage = 3},
                             Mesh{.devices = 4,
                             .micro_batches = 2,
                             .pipelined = true,
                             .checkpointing = true,
                             .replicas = 2,
                             .zero_stage = 2}}) {
      INFO(network << " on " << Describe(mesh));
      CheckSame(alone, TrainAndCheckTraffic(mesh, run));
    }
  }
}

TEST_CASE("what replicas share of the state changes no bit", "[devices]") {
  for (const std::string network : {"mlp", "gpt2", "vit"}) {
    for (const bool clips : {false, true}) {
      SmallRun run = RunOf(network);
      run.optimizer.kind = OptimizerKind::kAdamW;
      run.clip = clips ? 0.5 : 0;
      const Trained alone = TrainAndCheckTraffic({.micro_batches = 4, .groups = 2}, run);
      for (Mesh mesh : MeshesOf(2, 4)) {
        for (const std::int64_t stage : {0, 1, 2, 3}) {
          const bool is_shared = SharesWeights(network) && mesh.devices > mesh.replicas;
          if (stage == 3 && is_shared) continue;
          for (const std::int64_t bucket_kb : {0, 4, 1024}) {
            mesh.zero_stage = stage;
            mesh.bucket_kb = bucket_kb;
            INFO(network << " on " << Describe(mesh) << ", clips " << clips);
            CheckSame(alone, TrainAndCheckTraffic(mesh, run));
          }
        }
      }
    }
  }
}

TEST_CASE("replicas that share values do so in bf16 too", "[devices]") {
  SmallRun run = RunOf("gpt2");
  run.precision = Precision::kBF16;
  const Trained alone = TrainAndCheckTraffic({.micro_batches = 4, .groups = 2}, run);
  for (const std::int64_t stage : {2, 3}) {
    const Mesh mesh = {
        .devices = 2, .micro_batches = 2, .replicas = 2, .zero_stage = stage, .bucket_kb = 4};
    INFO(Describe(mesh));
    CheckSame(alone, TrainAndCheckTraffic(mesh, run));
  }
}

// Bytes of one purpose that a device has between steps.
std::int64_t Kept(const Model& model, std::size_t device, MemoryTag tag) {
  return model.planned().devices[device].plan.steps.front().baseline[tag];
}

TEST_CASE("each stage of sharding keeps the bytes of the published formulas", "[devices]") {
  // arXiv 1910.02054, figure 1, with f32 throughout: values 4, gradients 4, state of Adam 8 bytes.
  constexpr std::int64_t kReplicas = 4, kUnits = 64;
  for (const std::int64_t stage : {0, 1, 2, 3}) {
    INFO("stage " << stage);
    SmallRun run = RunOf("mlp");
    run.optimizer.kind = OptimizerKind::kAdam;
    AiModelBuilder builder =
        BuilderFor(On({.devices = kReplicas, .replicas = kReplicas, .zero_stage = stage}, run));
    builder.Layers([&](LayerList& layers) {
      layers.Flatten();
      layers.Dense({.units = kUnits, .bias = false});
      for (std::int64_t i = 1; i < 2 * kReplicas; ++i) {
        layers.Dense({.units = kUnits, .bias = false});
      }
      layers.Dense({.units = 5});
    });
    Model model = builder.Build();
    CheckDevices(model, model.Train());
    std::int64_t parameters = 0, largest = 0;
    for (const Parameter* parameter : model.parameters()) {
      parameters += parameter->shape.ElementCount();
      largest = std::max(largest, parameter->shape.ElementCount());
    }
    for (std::size_t device = 0; device < kReplicas; ++device) {
      const auto check = [&](MemoryTag tag, std::int64_t bytes, bool is_shared) {
        const std::int64_t share = is_shared ? parameters / kReplicas : parameters;
        // Parameters are dealt out whole, and blocks begin at multiples of 64 bytes.
        const std::int64_t slack = is_shared ? largest : 0;
        const std::int64_t padding = std::int64_t{2} * 64 * std::ssize(model.parameters());
        CHECK(Kept(model, device, tag) >= bytes * (share - slack));
        CHECK(Kept(model, device, tag) <= bytes * (share + slack) + padding);
      };
      check(MemoryTag::kOptimizerState, 8, stage >= 1);
      check(MemoryTag::kGradient, 4, stage >= 2);
      check(MemoryTag::kParameter, 4, stage >= 3);
    }
  }
}

TEST_CASE("replicas that an epoch's last batch has no samples for take part", "[devices]") {
  SmallRun run = RunOf("mlp");
  run.batch = 9;
  run.drop_last = false;
  run.max_steps = 100;
  const Trained alone = TrainOn({.micro_batches = 8, .groups = 4}, run);
  REQUIRE(alone.plan.Find(StepKind::kTrain, 1) != nullptr);  // an epoch's last batch
  for (const std::int64_t stage : {0, 1, 2}) {
    for (const bool pipelined : {false, true}) {
      const Mesh mesh = {.devices = pipelined ? 8 : 4,
                         .micro_batches = 2,
                         .pipelined = pipelined,
                         .replicas = 4,
                         .zero_stage = stage,
                         .bucket_kb = 4};
      INFO(Describe(mesh));
      CheckSame(alone, TrainOn(mesh, run));
    }
  }
}

TEST_CASE("what replicas cannot share is refused", "[devices]") {
  const auto refusal = [](const Mesh& mesh, const SmallRun& run) {
    return RefusalOf([&] { BuilderFor(On(mesh, run)).Plan(); });
  };
  const Mesh stages = {.devices = 4, .micro_batches = 2, .replicas = 2, .zero_stage = 3};
  CHECK(refusal(stages, RunOf("gpt2")).find("a weight belongs to one stage of the pipeline") !=
        std::string::npos);
  SmallRun uneven = RunOf("mlp");
  uneven.batch = 9;
  uneven.drop_last = false;
  Mesh many = {.devices = 4, .micro_batches = 2, .replicas = 4, .zero_stage = 3};
  CHECK(refusal(many, uneven).find("every micro-batch of every step has samples with zero_stage") !=
        std::string::npos);
  uneven.network = "convnet";
  many.zero_stage = 0;
  CHECK(refusal(many, uneven).find("has samples where a network has batch norms") !=
        std::string::npos);
}

}  // namespace
}  // namespace frugal::testing
