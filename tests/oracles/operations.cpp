#include "tests/oracles/operations.h"

#include <map>

#include "sdk/ops/linear.h"
#include "sdk/ops/loss.h"
#include "sdk/ops/norm.h"
#include "sdk/ops/pool.h"

namespace frugal::oracles {
namespace {

constexpr AxisOrder kImage = AxisOrder::kChannelsFirst;

template <Activation kind>
Var RunActivation(OracleRun& run) {
  return Activate(run.context(), run.Input("input"), kind);
}

template <Regression kind>
Var RunRegression(OracleRun& run) {
  return RegressionLoss(run.context(), run.Input("input"), run.Constant("target"), kind,
                        run.attributes().value("delta", 1.0));
}

Var RunLinear(OracleRun& run) {
  return Linear(run.context(), run.Input("input"), run.Weight("weight"), run.WeightIfThere("bias"));
}

// The same number on each spatial axis, at the right end.
Spatial Spread(std::int64_t value, std::size_t spatial_rank, std::int64_t unused) {
  Spatial result{unused, unused, unused};
  for (std::size_t axis = 3 - spatial_rank; axis < 3; ++axis) result[axis] = value;
  return result;
}

WindowOptions WindowOf(const nlohmann::json& attributes, const Spatial& kernel,
                       std::size_t spatial_rank) {
  WindowOptions window;
  window.kernel = kernel;
  window.stride = Spread(attributes.value("stride", 1), spatial_rank, 1);
  window.padding_begin = Spread(attributes.value("padding", 0), spatial_rank, 0);
  window.padding_end = window.padding_begin;
  window.dilation = Spread(attributes.value("dilation", 1), spatial_rank, 1);
  return window;
}

Var RunConvolution(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  const Parameter& weight = run.Weight("weight");
  const std::size_t spatial_rank = input.shape().rank() - 2;
  Spatial kernel{1, 1, 1};
  for (std::size_t i = 0; i < spatial_rank; ++i) kernel[3 - spatial_rank + i] = weight.shape[2 + i];
  return Convolution(run.context(), input, weight, run.WeightIfThere("bias"),
                     WindowOf(run.attributes(), kernel, spatial_rank),
                     run.attributes().value("groups", 1));
}

WindowOptions PoolWindowOf(const nlohmann::json& attributes) {
  return WindowOf(attributes, Spread(attributes.at("kernel"), 2, 1), 2);
}

Var RunMaxPool(OracleRun& run) {
  return MaxPool(run.context(), run.Input("input", kImage), PoolWindowOf(run.attributes()));
}

Var RunAveragePool(OracleRun& run) {
  return AveragePool(run.context(), run.Input("input", kImage), PoolWindowOf(run.attributes()));
}

Var RunAdaptivePool(OracleRun& run) {
  return AdaptiveAveragePool(run.context(), run.Input("input", kImage),
                             Spread(run.attributes().at("output"), 2, 1));
}

NormParameters NormParametersOf(OracleRun& run) {
  const Parameter* weight = run.WeightIfThere("weight");
  return {weight, run.WeightIfThere("bias")};
}

Var RunLayerNorm(OracleRun& run) {
  const Var input = run.Input("input");
  return LayerNorm(run.context(), input, NormParametersOf(run), run.attributes().at("eps"));
}

Var RunGroupNorm(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  return GroupNorm(run.context(), input, NormParametersOf(run), run.attributes().at("groups"),
                   run.attributes().at("eps"));
}

Var RunBatchNorm(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  BatchNormState state;
  state.parameters = NormParametersOf(run);
  state.running_mean = &run.Buffer("running_mean", input.shape().back(), 0);
  state.running_variance = &run.Buffer("running_var", input.shape().back(), 1);
  state.epsilon = run.attributes().at("eps");
  run.context().set_training(run.attributes().at("training"));
  return BatchNorm(run.context(), input, state);
}

Var RunSoftmax(OracleRun& run) { return Softmax(run.context(), run.Input("input")); }
Var RunLogSoftmax(OracleRun& run) { return LogSoftmax(run.context(), run.Input("input")); }

Var RunCrossEntropy(OracleRun& run) {
  const Var logits = run.Input("logits");
  return CrossEntropy(run.context(), logits, run.Constant("target"),
                      {.label_smoothing = run.attributes().value("label_smoothing", 0.0),
                       .ignore_index = run.attributes().value("ignore_index", -100)});
}

const std::map<std::string, OracleRun::Function>& Operations() {
  static const std::map<std::string, OracleRun::Function> operations = {
      {"linear", RunLinear},
      {"conv1d", RunConvolution},
      {"conv2d", RunConvolution},
      {"conv3d", RunConvolution},
      {"layer_norm", RunLayerNorm},
      {"group_norm", RunGroupNorm},
      {"batch_norm", RunBatchNorm},
      {"relu", RunActivation<Activation::kRelu>},
      {"gelu", RunActivation<Activation::kGelu>},
      {"gelu_tanh", RunActivation<Activation::kGeluTanh>},
      {"quick_gelu", RunActivation<Activation::kQuickGelu>},
      {"silu", RunActivation<Activation::kSilu>},
      {"sigmoid", RunActivation<Activation::kSigmoid>},
      {"tanh", RunActivation<Activation::kTanh>},
      {"softplus", RunActivation<Activation::kSoftplus>},
      {"elu", RunActivation<Activation::kElu>},
      {"leaky_relu", RunActivation<Activation::kLeakyRelu>},
      {"mish", RunActivation<Activation::kMish>},
      {"hardswish", RunActivation<Activation::kHardswish>},
      {"exp", RunActivation<Activation::kExp>},
      {"softmax", RunSoftmax},
      {"log_softmax", RunLogSoftmax},
      {"cross_entropy", RunCrossEntropy},
      {"mse_loss", RunRegression<Regression::kMse>},
      {"l1_loss", RunRegression<Regression::kL1>},
      {"huber_loss", RunRegression<Regression::kHuber>},
      {"bce_with_logits", RunRegression<Regression::kBceWithLogits>},
      {"max_pool2d", RunMaxPool},
      {"avg_pool2d", RunAveragePool},
      {"adaptive_avg_pool2d", RunAdaptivePool},
  };
  return operations;
}

}  // namespace

OracleRun::Function FindOperation(const std::string& operation) {
  const auto found = Operations().find(operation);
  return found == Operations().end() ? nullptr : found->second;
}

}  // namespace frugal::oracles
