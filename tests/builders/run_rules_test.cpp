#include "builders/config/run_rules.h"

#include "builders/ai_model_builder.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

const std::string kLayers = "[[model.layers]]\ntype = \"flatten\"\n";

// Returns the first contradiction that CheckRun finds, or "nothing".
std::string Found(const AiModelBuilder& builder) {
  Diagnostics diagnostics;
  CheckRun(builder.config(), true, diagnostics);
  return diagnostics.empty() ? "nothing" : diagnostics.Lines().front();
}

AiModelBuilder FromText(const TempDir& directory, const std::string& text,
                        const std::vector<std::string>& overrides = {}) {
  return AiModelBuilder::FromToml(directory.Write("run.toml", text + kLayers), overrides);
}

TEST_CASE("what code puts back to its default is not meant") {
  const TempDir directory;
  const std::string sgd = "[optimizer]\nkind = \"sgd\"\nmomentum = 0.9\nnesterov = true\n";
  CHECK(Found(FromText(directory, sgd).Optimizer({.kind = OptimizerKind::kAdamW})) == "nothing");
  const std::string adam = "[optimizer]\nkind = \"adam\"\nbeta1 = 0.8\neps = 1e-7\n";
  CHECK(Found(FromText(directory, adam).Optimizer({.kind = OptimizerKind::kSgd})) == "nothing");
  const std::string cosine = "[schedule]\nkind = \"cosine\"\nfinal_fraction = 0.1\n";
  CHECK(Found(FromText(directory, cosine).Schedule({})) == "nothing");
  const std::string smooth = "[loss]\nlabel_smoothing = 0.1\nignore_index = 3\n";
  CHECK(Found(FromText(directory, smooth).Loss({.kind = LossKind::kMse})) == "nothing");
}

TEST_CASE("what a file says as the default is not meant either once code says the kind") {
  const TempDir directory;
  const std::string sgd = "[optimizer]\nkind = \"sgd\"\nmomentum = 0.0\n";
  CHECK(Found(FromText(directory, sgd).Optimizer({.kind = OptimizerKind::kAdamW})) == "nothing");
  const std::string step = "[schedule]\nkind = \"step\"\nstep_every = 1000\n";
  CHECK(Found(FromText(directory, step).Schedule({})) == "nothing");
}

TEST_CASE("a batch in parts has no labels that are left out") {
  const TempDir directory;
  const std::string text =
      "[training]\ngradient_accumulation_steps = 2\n[loss]\nignore_index = 3\n";
  CheckContains(MessageOf<ConfigError>([&] { FromText(directory, text); }),
                "parts of a batch count by their samples");
  CHECK(Found(FromText(directory, "[training]\ngradient_accumulation_steps = 2\n")) == "nothing");
}

TEST_CASE("narrow optimizer state is for rules that have it") {
  const auto with = [](const OptimizerOptions& options, Precision precision = Precision::kF32) {
    TrainingOptions training;
    training.precision = precision;
    if (precision == Precision::kF64) training.backend = BackendKind::kEigen;
    return Found(AiModelBuilder()
                     .Layers([](LayerList& l) { l.Flatten(); })
                     .Training(training)
                     .Optimizer(options));
  };
  using Kind = OptimizerKind;
  for (const StateFormat state : {StateFormat::kBF16, StateFormat::k8Bit}) {
    for (const Kind kind : {Kind::kAdam, Kind::kAdamW}) {
      CHECK(with({.kind = kind, .state = state}) == "nothing");
      CheckContains(with({.kind = kind, .state = state}, Precision::kF64), "is rounded from f32");
    }
    CHECK(with({.kind = Kind::kSgd, .momentum = 0.9, .state = state}) == "nothing");
    CheckContains(with({.kind = Kind::kSgd, .state = state}), "needs a momentum above 0");
    for (const Kind kind : {Kind::kRmsProp, Kind::kAdagrad, Kind::kAdadelta, Kind::kNAdam,
                            Kind::kRAdam, Kind::kAdamax}) {
      CheckContains(with({.kind = kind, .state = state}), "belongs to sgd, adam and adamw");
    }
  }
}

TEST_CASE("a field of another kind is refused whoever sets it") {
  const TempDir directory;
  const std::string required = "[optimizer] momentum belongs to sgd and rmsprop; ";
  CheckContains(Found(AiModelBuilder()
                          .Layers([](LayerList& l) { l.Flatten(); })
                          .Optimizer({.kind = OptimizerKind::kAdamW, .momentum = 0.9})),
                required);
  CheckContains(Found(FromText(directory, "").Schedule({.final_fraction = 0.1})),
                "final_fraction belongs to the schedule \"cosine\"");
  CheckContains(Found(FromText(directory, "").Loss({.delta = 2})),
                "delta belongs to the loss \"huber\"");
  CheckContains(
      MessageOf<ConfigError>([&] { FromText(directory, "[optimizer]\nmomentum = 0.0\n"); }),
      required);
  CheckContains(
      MessageOf<ConfigError>([&] { FromText(directory, "[schedule]\nstep_every = 1000\n"); }),
      "step_every belongs to the schedule \"step\"");
  CheckContains(MessageOf<ConfigError>([&] { FromText(directory, "", {"optimizer.momentum=0"}); }),
                required);
  CheckContains(Found(FromText(directory, "")
                          .Optimizer({.kind = OptimizerKind::kAdam})
                          .Override({"optimizer.momentum=0"})),
                required);
}

}  // namespace
}  // namespace frugal::testing
