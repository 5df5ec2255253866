#include "sdk/ops/support/affine_parameters.h"

#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

bool IsTrained(const Parameter* parameter) { return parameter != nullptr && parameter->trainable; }

GradientTarget TargetOf(Context& context, const Parameter* parameter) {
  return IsTrained(parameter) ? context.parameters().GradientFor(*parameter) : GradientTarget{};
}

// Kernels take one `accumulate` for both: a fresh place beside a used one starts at zero.
void StartAtZero(Context& context, const GradientTarget& target) {
  if (!target.tensor || target.accumulate) return;
  context.Launch({OperationKind::kElementwise, BytesOf(target.tensor)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(target.tensor, 0); });
}

}  // namespace

AffineTensors ValuesOf(Context& context, const Parameter* weight, const Parameter* bias) {
  ParameterStore& store = context.parameters();
  return {weight ? store.Value(*weight) : Tensor(), bias ? store.Value(*bias) : Tensor()};
}

AffineTensors GradientsOf(Context& context, const Parameter* weight, const Parameter* bias) {
  const GradientTarget dweight = TargetOf(context, weight);
  const GradientTarget dbias = TargetOf(context, bias);
  const bool accumulate = dweight.accumulate || dbias.accumulate;
  if (accumulate) {
    StartAtZero(context, dweight);
    StartAtZero(context, dbias);
  }
  return {dweight.tensor, dbias.tensor, accumulate};
}

bool IsDifferentiable(const Var& x, const Parameter* weight, const Parameter* bias) {
  return x.needs_gradient() || IsTrained(weight) || IsTrained(bias);
}

}  // namespace frugal
