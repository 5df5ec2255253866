#include "sdk/train/loss.h"
#include "tests/oracles/operation_table.h"
#include "tests/support/tensors.h"

// Losses by name, as a training computes them.
namespace frugal::oracles {
namespace {

Tensor ConstantIfThere(OracleRun& run, const std::string& name) {
  return run.Has(name) ? run.Constant(name) : Tensor();
}

Var RunLoss(OracleRun& run, const LossOptions& options, const std::string& input = "input") {
  const Var output = run.Input(input);
  return ComputeLoss(run.context(), options, output, ConstantIfThere(run, "target"),
                     ConstantIfThere(run, "sample_weights"));
}

// The options of losses over classes, which read the attributes that there are.
Var RunOverClasses(OracleRun& run, LossKind kind) {
  LossOptions options = {.kind = kind};
  options.label_smoothing = run.attributes().value("label_smoothing", 0.0);
  options.ignore_index = run.attributes().value("ignore_index", options.ignore_index);
  options.gamma = run.attributes().value("gamma", options.gamma);
  options.alpha = run.attributes().value("alpha", options.alpha);
  options.margin = run.attributes().value("margin", options.margin);
  if (run.Has("class_weights"))
    options.class_weights = testing::Values(run.Constant("class_weights"));
  return RunLoss(run, options, "logits");
}

template <LossKind kind>
Var RunClasses(OracleRun& run) {
  return RunOverClasses(run, kind);
}

template <LossKind kind>
Var RunRows(OracleRun& run) {
  LossOptions options = {.kind = kind};
  options.margin = run.attributes().value("margin", options.margin);
  return RunLoss(run, options);
}

Var RunWeightedRegression(OracleRun& run) {
  LossOptions options = {.delta = run.attributes().value("delta", 1.0)};
  const std::string name = run.attributes().at("kind");
  for (const LossKind kind :
       {LossKind::kMse, LossKind::kL1, LossKind::kHuber, LossKind::kBceWithLogits}) {
    if (NameOf(kind) == name) options.kind = kind;
  }
  return RunLoss(run, options);
}

Var RunCtc(OracleRun& run) {
  LossOptions options = {.kind = LossKind::kCtc};
  options.blank = run.attributes().value("blank", options.blank);
  options.ignore_index = run.attributes().value("padding", options.ignore_index);
  options.zero_infinity = run.attributes().value("zero_infinity", options.zero_infinity);
  return RunLoss(run, options, "logits");
}

}  // namespace

OperationTable RowLossOperations() {
  return {{"weighted_cross_entropy", RunClasses<LossKind::kCrossEntropy>},
          {"focal", RunClasses<LossKind::kFocal>},
          {"hinge", RunClasses<LossKind::kHinge>},
          {"kl_divergence", RunRows<LossKind::kKlDivergence>},
          {"cosine", RunRows<LossKind::kCosine>},
          {"triplet", RunRows<LossKind::kTriplet>},
          {"weighted_regression", RunWeightedRegression},
          {"ctc", RunCtc}};
}

}  // namespace frugal::oracles
