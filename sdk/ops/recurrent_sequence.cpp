#include "sdk/ops/recurrent_sequence.h"

#include "sdk/module/parameter_store.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/product_launch.h"

namespace frugal {
namespace {

// Adds dy^T x to the weight's gradient and dy's sum to the bias's.
void AddProductGradient(Context& context, const Tensor& dy, const Tensor& x,
                        const Parameter& weight, const Parameter* bias) {
  if (!IsDifferentiable({}, &weight, bias)) return;
  AffineTensors d = GradientsOf(context, &weight, bias);
  if (!d.weight) d.weight = context.Allocate(weight.shape, dy.dtype(), MemoryTag::kWorkspace);
  LaunchLinearBackwardWeight(context, dy, x, d);
}

}  // namespace

RecurrentShape CheckRecurrentShape(Context& context, const Var& x,
                                   const RecurrentParameters& parameters, std::int64_t gate_count) {
  const std::int64_t inputs = parameters.weight_ih->shape[1];
  if (x.shape().rank() != 3 || x.shape()[2] != inputs || x.shape()[1] < 1) {
    ThrowShape(context, "a recurrent layer takes [batch, steps, " + std::to_string(inputs) + "]",
               x.shape(), "change the layer's input size");
  }
  const std::int64_t gates = parameters.weight_ih->shape[0];
  return {x.shape()[0], x.shape()[1], inputs, gates / gate_count, gates};
}

Tensor StepOf(const Tensor& sequence, std::int64_t t) {
  return sequence.Narrow(t, 1).Reshape({sequence.shape()[1], sequence.shape()[2]});
}

Tensor RowsOf(const Tensor& sequence) {
  const Shape& shape = sequence.shape();
  return sequence.Reshape({shape[0] * shape[1], shape[2]});
}

Tensor SwapTimeAndBatch(Context& context, const Tensor& x) {
  const Tensor y = context.Allocate({x.shape()[1], x.shape()[0], x.shape()[2]}, x.dtype());
  context.Launch({OperationKind::kCopy, BytesOf(x, y)}, [&](Backend& backend, void*) {
    backend.elementwise().Permute(x, {1, 0, 2}, y);
  });
  return y;
}

Tensor ZeroTensor(Context& context, const Shape& shape) {
  const Tensor zero = context.Allocate(shape, context.master_dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(zero)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(zero, 0); });
  return zero;
}

void Product(Context& context, const Tensor& x, const Parameter& weight, const Parameter* bias,
             const Tensor& y) {
  const AffineTensors p = ValuesOf(context, &weight, bias);
  LaunchLinearForward(context, x, p.weight, p.bias, {}, y);
}

void ProductBack(Context& context, const Tensor& dy, const Parameter& weight, const Tensor& dx) {
  LaunchLinearBackwardData(context, dy, context.parameters().Value(weight), dx);
}

RecurrentRun BeginRun(Context& context, const Var& x, const RecurrentParameters& parameters,
                      std::int64_t gate_count, bool keeps_apart) {
  RecurrentRun run;
  run.shape = CheckRecurrentShape(context, x, parameters, gate_count);
  const auto& [batch, steps, inputs, hidden, gates] = run.shape;
  run.x = SwapTimeAndBatch(context, x.value);
  run.from_input = context.Allocate({steps, batch, gates}, run.x.dtype());
  run.from_hidden =
      keeps_apart ? context.Allocate({steps, batch, gates}, run.x.dtype()) : run.from_input;
  Product(context, RowsOf(run.x), *parameters.weight_ih, parameters.bias_ih,
          RowsOf(run.from_input));
  run.hidden = ZeroTensor(context, {steps + 1, batch, hidden});
  return run;
}

void DeliverGradients(Context& context, const RecurrentRun& run,
                      const RecurrentParameters& parameters, int slot) {
  const RecurrentShape& shape = run.shape;
  const Tensor dfrom_input = RowsOf(run.from_input);
  AddProductGradient(context, RowsOf(run.from_hidden), RowsOf(run.hidden.Narrow(0, shape.steps)),
                     *parameters.weight_hh, parameters.bias_hh);
  AddProductGradient(context, dfrom_input, RowsOf(run.x), *parameters.weight_ih,
                     parameters.bias_ih);
  if (slot == Var::kNoGradient) return;
  const Tensor dx =
      context.Allocate({shape.steps, shape.batch, shape.inputs}, context.master_dtype());
  ProductBack(context, dfrom_input, *parameters.weight_ih, RowsOf(dx));
  context.Accumulate(slot, SwapTimeAndBatch(context, dx));
}

}  // namespace frugal
