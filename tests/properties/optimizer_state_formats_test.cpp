// [optimizer] state: its bytes, that they are the plan's, and that training is as good.
#include "sdk/backend/state_codec.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

SmallRun RunIn(const std::string& network, StateFormat state, OptimizerKind kind) {
  SmallRun run;
  run.network = network;
  run.optimizer.state = state;
  run.optimizer.kind = kind;
  if (kind == OptimizerKind::kSgd) run.optimizer.momentum = 0.9;
  return run;
}

constexpr StateFormat kFormats[] = {StateFormat::kF32, StateFormat::kBF16, StateFormat::k8Bit};
constexpr OptimizerKind kKinds[] = {OptimizerKind::kSgd, OptimizerKind::kAdam,
                                    OptimizerKind::kAdamW};

// Layers of more elements than the 8-bit format leaves in f32.
AiModelBuilder Wide(const SmallRun& run) {
  AiModelBuilder builder = BuilderFor(run);
  return builder.Layers(
      [](LayerList& l) { l.Flatten().Dense({.units = 300}).Dense({.units = 5}); });
}

TEST_CASE("every format and rule trains exactly its plan") {
  for (const BackendKind backend : {BackendKind::kOneDnn, BackendKind::kEigen}) {
    for (const OptimizerKind kind : kKinds) {
      for (const StateFormat state : kFormats) {
        for (const bool in_backward : {false, true}) {
          INFO(NameOf(backend) << " " << NameOf(kind) << " " << NameOf(state) << in_backward);
          SmallRun run = RunIn("mlp", state, kind);
          run.backend = backend;
          run.memory.optimizer_in_backward = in_backward;
          run.clip = 0;
          Model model = Wide(run).Build();
          const TrainingResult result = model.Train();
          CheckPlanIsRun(model.plan(), result, true);
        }
      }
    }
  }
}

TEST_CASE("state takes a half in bf16 and about a quarter in 8 bits") {
  const auto bytes = [](StateFormat state) {
    return Wide(RunIn("mlp", state, OptimizerKind::kAdamW))
        .Plan()
        .plan.peak_by_purpose[MemoryTag::kOptimizerState];
  };
  const auto full = static_cast<double>(bytes(StateFormat::kF32));
  CHECK(full > 2 * 4 * 128 * 300);
  CHECK(static_cast<double>(bytes(StateFormat::kBF16)) / full == Approx(0.5).epsilon(0.01));
  // The last layer and the biases, 1,805 of 40,205 parameters, stay in f32.
  const std::int64_t codes = BlockStateBytes(128 * 300);
  CHECK(bytes(StateFormat::k8Bit) >= 2 * (codes + 4 * 1805));
  CHECK(bytes(StateFormat::k8Bit) <= 2 * (codes + 4 * 1805) + 8 * 64);
}

TEST_CASE("narrow state computes the same under every memory policy and again") {
  for (const StateFormat state : {StateFormat::kBF16, StateFormat::k8Bit}) {
    INFO(NameOf(state));
    SmallRun run = RunIn("gpt2", state, OptimizerKind::kAdamW);
    run.clip = 0;
    const Trained plain = Train(run);
    CheckSame(plain, Train(run));
    run.memory.use_gradient_checkpointing = true;
    CheckSame(plain, Train(run));
    run.memory.optimizer_in_backward = true;
    const Trained in_backward = Train(run);
    CHECK(in_backward.result.losses == plain.result.losses);
    CHECK(in_backward.values == plain.values);
  }
}

TEST_CASE("the format of the state changes the weights") {
  const auto hash = [](StateFormat state) {
    Model model = Wide(RunIn("mlp", state, OptimizerKind::kAdamW)).Build();
    return model.Train().weights_hash;
  };
  CHECK(hash(StateFormat::kF32) != hash(StateFormat::kBF16));
  CHECK(hash(StateFormat::kF32) != hash(StateFormat::k8Bit));
  CHECK(hash(StateFormat::kBF16) != hash(StateFormat::k8Bit));
}

// Networks whose weights the 8-bit format takes; without dropout, so that nothing else is random.
AiModelBuilder Larger(const std::string& name, const SmallRun& run) {
  AiModelBuilder builder = BuilderFor(run);
  if (name == "resnet") {
    return builder.Architecture(ResNetConfig{
        .layers = {1, 1}, .width = 24, .num_classes = 5, .in_channels = 2, .small_stem = true});
  }
  return builder.Architecture(Gpt2Config{.vocab_size = 13,
                                         .n_positions = 8,
                                         .n_embd = 48,
                                         .n_layer = 2,
                                         .n_head = 2,
                                         .embd_pdrop = 0,
                                         .resid_pdrop = 0});
}

// The mean of the last ten losses of 100 steps.
double LastLoss(const std::string& name, StateFormat state, OptimizerKind kind) {
  SmallRun run = RunIn(name, state, kind);
  run.optimizer.lr = kind == OptimizerKind::kSgd ? 0.02 : 1e-3;
  run.max_steps = 100;
  run.epochs = 40;
  const std::vector<double> losses = Larger(name, run).Build().Train().losses;
  double sum = 0;
  for (std::size_t i = losses.size() - 10; i < losses.size(); ++i) sum += losses[i] / 10;
  return sum;
}

TEST_CASE("small models learn as well with narrow state") {
  for (const std::string name : {"gpt2", "resnet"}) {
    for (const OptimizerKind kind : kKinds) {
      const double full = LastLoss(name, StateFormat::kF32, kind);
      for (const StateFormat state : {StateFormat::kBF16, StateFormat::k8Bit}) {
        const double narrow = LastLoss(name, state, kind);
        INFO(name << " " << NameOf(kind) << " " << NameOf(state));
        CHECK(narrow == Approx(full).epsilon(0.02));
        CHECK(narrow != full);
      }
    }
  }
}

}  // namespace
}  // namespace frugal::testing
