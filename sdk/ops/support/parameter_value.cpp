#include "sdk/ops/support/parameter_value.h"

#include "sdk/module/parameter_store.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/precision.h"

namespace frugal {

Var ExactValueOf(Context& context, const Parameter& parameter) {
  const Tensor value = context.parameters().Value(parameter);
  return context.Record(value, parameter.trainable, [&parameter](Context& ctx, Tensor dy) {
    const GradientTarget target = ctx.parameters().GradientFor(parameter);
    ctx.Launch({OperationKind::kElementwise,
                BytesOf(dy) + BytesOfGradients({target.tensor, {}, target.accumulate})},
               [&](Backend& backend, void*) {
                 if (target.accumulate) {
                   backend.elementwise().Add(target.tensor, dy, target.tensor);
                 } else {
                   backend.elementwise().Copy(dy, target.tensor);
                 }
               });
  });
}

Var ValueOf(Context& context, const Parameter& parameter) {
  return ToActivation(context, ExactValueOf(context, parameter));
}

}  // namespace frugal
