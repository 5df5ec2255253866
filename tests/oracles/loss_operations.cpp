#include <algorithm>

#include "sdk/ops/elementwise.h"
#include "sdk/ops/loss.h"
#include "tests/oracles/attribute_text.h"
#include "tests/oracles/operation_table.h"

namespace frugal::oracles {
namespace {

// Returns the mean over `count` numbers, or their sum where the case asks for it.
Var Reduced(OracleRun& run, const Var& mean, std::int64_t count) {
  const std::string reduction = run.attributes().value("reduction", "mean");
  if (reduction == "sum") return Scale(run.context(), mean, static_cast<double>(count));
  if (reduction != "mean") RefuseAttribute(run, "losses are means or sums here");
  return mean;
}

void RefuseWeights(const OracleRun& run) {
  if (run.Has("weight") || run.Has("pos_weight")) {
    RefuseAttribute(run, "losses count every class and number alike");
  }
}

template <Regression kind>
Var RunRegression(OracleRun& run) {
  RefuseWeights(run);
  const Var input = run.Input("input");
  const Var loss = RegressionLoss(run.context(), input, run.Input("target"), kind,
                                  run.attributes().value("delta", 1.0));
  return Reduced(run, loss, input.shape().ElementCount());
}

Var RunCrossEntropy(OracleRun& run) {
  RefuseWeights(run);
  const Var logits = run.Input("logits", kImage);  // PyTorch's classes are axis 1
  const Tensor target = run.Constant("target");
  const std::int64_t ignored = run.attributes().value("ignore_index", -100);
  const Var loss = CrossEntropy(
      run.context(), logits, target,
      {.label_smoothing = run.attributes().value("label_smoothing", 0.0), .ignore_index = ignored});
  const auto labels = target.values<std::int64_t>();
  return Reduced(run, loss, std::ssize(labels) - std::ranges::count(labels, ignored));
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
