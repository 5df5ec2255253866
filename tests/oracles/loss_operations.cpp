#include "sdk/ops/elementwise.h"
#include "sdk/ops/loss.h"
#include "tests/oracles/attribute_text.h"
#include "tests/oracles/operation_table.h"

namespace frugal::oracles {
namespace {

void RequireMean(const OracleRun& run) {
  if (run.attributes().value("reduction", "mean") != "mean") {
    RefuseAttribute(run, "losses are means here");
  }
}

template <Regression kind>
Var RunRegression(OracleRun& run) {
  RequireMean(run);
  return RegressionLoss(run.context(), run.Input("input"), run.Input("target"), kind,
                        run.attributes().value("delta", 1.0));
}

Var RunCrossEntropy(OracleRun& run) {
  RequireMean(run);
  const Var logits = run.Input("logits", kImage);  // PyTorch's classes are axis 1
  return CrossEntropy(run.context(), logits, run.Constant("target"),
                      {.label_smoothing = run.attributes().value("label_smoothing", 0.0),
                       .ignore_index = run.attributes().value("ignore_index", -100)});
}

// Ours run along the last axis: any other one trades places with it.
template <Var (*function)(Context&, const Var&)>
Var RunAlongAxis(OracleRun& run) {
  const Var input = run.Input("input");
  const std::size_t last = input.shape().rank() - 1;
  const nlohmann::json axis = {{"axis", run.attributes().value("axis", -1)}};
  const auto along = static_cast<std::size_t>(AxesAttribute(axis, last + 1).front());
  if (along == last) return function(run.context(), input);
  Shape axes = input.shape();
  for (std::size_t i = 0; i <= last; ++i) axes[i] = static_cast<std::int64_t>(i);
  std::swap(axes[along], axes[last]);
  const Var turned = function(run.context(), Permute(run.context(), input, axes));
  return Permute(run.context(), turned, axes);
}

}  // namespace

OperationTable LossOperations() {
  return {
      {"softmax", RunAlongAxis<Softmax>},
      {"log_softmax", RunAlongAxis<LogSoftmax>},
      {"cross_entropy", RunCrossEntropy},
      {"mse_loss", RunRegression<Regression::kMse>},
      {"l1_loss", RunRegression<Regression::kL1>},
      {"huber_loss", RunRegression<Regression::kHuber>},
      {"bce_with_logits", RunRegression<Regression::kBceWithLogits>},
  };
}

}  // namespace frugal::oracles
