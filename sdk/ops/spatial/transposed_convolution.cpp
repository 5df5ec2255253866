#include "sdk/ops/spatial/transposed_convolution.h"

#include "sdk/module/parameter_store.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

// `geometry` is that of the convolution whose gradient this is: from y, its input, to x.
struct TransposedCall {
  Var x;
  const Parameter* weight;
  const Parameter* bias;
  ConvGeometry geometry;
  Shape y_shape;

  double Flops() const {
    const WindowGeometry& w = geometry.window;
    return 2.0 * static_cast<double>(w.batch * w.OutputSize()) *
           static_cast<double>(weight->shape.ElementCount());
  }
};

WindowGeometry FitWindowBack(Context& context, const Shape& x, const WindowOptions& options,
                             const Spatial& output_padding) {
  WindowGeometry window;
  window.batch = x[0];
  window.kernel = options.kernel;
  window.stride = options.stride;
  window.padding_begin = options.padding_begin;
  window.padding_end = options.padding_end;
  window.dilation = options.dilation;
  const std::size_t unused = 5 - x.rank();
  for (std::size_t axis = unused; axis < 3; ++axis) {
    window.output[axis] = x[1 + axis - unused];
    window.input[axis] = (window.output[axis] - 1) * window.stride[axis] -
                         window.padding_begin[axis] - window.padding_end[axis] +
                         window.dilation[axis] * (window.kernel[axis] - 1) + output_padding[axis] +
                         1;
    // Output padding is room at the end that no kernel reaches.
    if (window.input[axis] < 1 || output_padding[axis] >= window.stride[axis]) {
      ThrowShape(context, "padding leaves an output, and output padding is less than the stride", x,
                 "use less of both");
    }
  }
  return window;
}

TransposedCall FitTransposed(Context& context, const Var& x, const Parameter& weight,
                             const Parameter* bias, const WindowOptions& options,
                             const Spatial& output_padding, std::int64_t groups) {
  const std::size_t rank = x.shape().rank();
  if (rank < 3 || rank > 5 || x.shape().back() != weight.shape[0]) {
    ThrowShape(
        context,
        "transposed convolution takes [N, spatial..., " + std::to_string(weight.shape[0]) + "]",
        x.shape(), "change the layer's input channels");
  }
  const WindowGeometry window = FitWindowBack(context, x.shape(), options, output_padding);
  const ConvGeometry geometry{window, weight.shape[1] * groups, weight.shape[0], groups};
  Shape y = x.shape();
  for (std::size_t i = 0; i + 2 < rank; ++i) y[1 + i] = window.input[5 - rank + i];
  y[rank - 1] = geometry.input_channels;
  return {x, &weight, bias, geometry, y};
}

Tensor Forward(Context& context, const TransposedCall& call) {
  const AffineTensors p = ValuesOf(context, call.weight, call.bias);
  const Tensor y = context.Allocate(call.y_shape, call.x.dtype());
  ConvKernels& conv = context.backend().conv();
  context.Launch({.kind = OperationKind::kConvolution,
                  .bytes = BytesOf(call.x.value, p.weight, y),
                  .flops = call.Flops(),
                  .scratch_bytes = conv.BackwardDataScratch(call.geometry, y.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.conv().BackwardData(call.geometry, call.x.value, p.weight, y, scratch);
                 });
  if (p.bias) {
    Shape repeated = call.y_shape;
    for (std::size_t i = 0; i + 1 < repeated.rank(); ++i) repeated[i] = 1;
    const Tensor bias = p.bias.Reshape(repeated);
    context.Launch(
        {OperationKind::kElementwise, BytesOf(y, bias, y)},
        [&](Backend& backend, void*) { backend.array().Binary(BinaryKind::kAdd, y, bias, y); });
  }
  return y;
}

void AddParameterGradients(Context& context, const TransposedCall& call, const Tensor& dy) {
  AffineTensors d = GradientsOf(context, call.weight, call.bias);
  ConvKernels& conv = context.backend().conv();
  if (d.weight) {
    context.Launch(
        {.kind = OperationKind::kConvolution,
         .bytes = BytesOf(call.x.value, dy) + BytesOfGradients({d.weight, {}, d.accumulate}),
         .flops = call.Flops(),
         .scratch_bytes =
             conv.BackwardWeightScratch(call.geometry, dy.dtype(), false, d.accumulate)},
        [&](Backend& backend, void* scratch) {
          backend.conv().BackwardWeight(call.geometry, call.x.value, dy, d.weight, {}, d.accumulate,
                                        scratch);
        });
  }
  if (!d.bias) return;
  Shape reduced = dy.shape();
  for (std::size_t i = 0; i + 1 < reduced.rank(); ++i) reduced[i] = 1;
  const Tensor sum = context.Allocate(reduced, dy.dtype());
  context.Launch(
      {OperationKind::kElementwise, BytesOf(dy) + BytesOfGradients({{}, d.bias, d.accumulate})},
      [&](Backend& backend, void*) {
        backend.array().SumTo(dy, 1, sum);
        const Tensor flat = sum.Reshape(d.bias.shape());
        if (d.accumulate) return backend.elementwise().Add(d.bias, flat, d.bias);
        backend.elementwise().Copy(flat, d.bias);
      });
}

Tensor InputGradient(Context& context, const TransposedCall& call, const Tensor& dy) {
  const Tensor weight = context.parameters().Value(*call.weight);
  const Tensor dx = context.Allocate(call.x.shape(), call.x.dtype());
  ConvKernels& conv = context.backend().conv();
  context.Launch({.kind = OperationKind::kConvolution,
                  .bytes = BytesOf(dy, weight, dx),
                  .flops = call.Flops(),
                  .scratch_bytes = conv.ForwardScratch(call.geometry, dy.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.conv().Forward(call.geometry, dy, weight, {}, dx, {}, scratch);
                 });
  return dx;
}

}  // namespace

Var TransposedConvolution(Context& context, const Var& x, const Parameter& weight,
                          const Parameter* bias, const WindowOptions& options,
                          const Spatial& output_padding, std::int64_t groups) {
  if (IsBf16(x)) {
    return ToActivation(context, TransposedConvolution(context, CastToF32(context, x), weight, bias,
                                                       options, output_padding, groups));
  }
  const TransposedCall call =
      FitTransposed(context, x, weight, bias, options, output_padding, groups);
  const Tensor y = Forward(context, call);
  return context.Record(y, IsDifferentiable(x, &weight, bias), [=](Context& ctx, Tensor dy) {
    ctx.RunDeferred(Deferred::kWeights,
                    [call, dy](Context& in) { AddParameterGradients(in, call, dy); });
    if (call.x.needs_gradient()) ctx.Accumulate(call.x.slot, InputGradient(ctx, call, dy));
  });
}

}  // namespace frugal
