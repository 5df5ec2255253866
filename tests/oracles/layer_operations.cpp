#include "sdk/ops/linear.h"
#include "sdk/ops/norm/norm.h"
#include "tests/oracles/operation_table.h"

namespace frugal::oracles {
namespace {

template <Activation kind>
Var RunActivation(OracleRun& run) {
  if (run.attributes().value("beta", 1.0) != 1 || run.attributes().value("threshold", 20.0) != 20) {
    RefuseAttribute(run, "softplus is log(1 + exp(x))");
  }
  const char* name = kind == Activation::kElu ? "alpha" : "negative_slope";
  const ActivationFunction function(kind, run.attributes().value(name, DefaultParameter(kind)));
  return Activate(run.context(), run.Input("input"), function);
}

Var RunGelu(OracleRun& run) {
  const bool approximate = run.attributes().value("approximate", "none") == "tanh";
  return approximate ? RunActivation<Activation::kGeluTanh>(run)
                     : RunActivation<Activation::kGelu>(run);
}

Var RunLinear(OracleRun& run) {
  return Linear(run.context(), run.Input("input"), run.Weight("weight"), run.WeightIfThere("bias"));
}

NormParameters NormParametersOf(OracleRun& run) {
  const Parameter* weight = run.WeightIfThere("weight");
  return {weight, run.WeightIfThere("bias")};
}

Var RunLayerNorm(OracleRun& run) {
  const Var input = run.Input("input");
  return LayerNorm(run.context(), input, NormParametersOf(run), run.attributes().at("eps"));
}

Var RunRmsNorm(OracleRun& run) {
  const Var input = run.Input("input");
  return RmsNorm(run.context(), input, run.WeightIfThere("weight"), run.attributes().at("eps"));
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

}  // namespace

OperationTable LayerOperations() {
  return {
      {"linear", RunLinear},
      {"layer_norm", RunLayerNorm},
      {"rms_norm", RunRmsNorm},
      {"group_norm", RunGroupNorm},
      {"batch_norm", RunBatchNorm},
      {"relu", RunActivation<Activation::kRelu>},
      {"gelu", RunGelu},
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
  };
}

}  // namespace frugal::oracles
