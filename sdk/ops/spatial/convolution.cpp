#include "sdk/ops/spatial/convolution.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/module/parameter_store.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

void CheckSpatialRank(Context& context, const Shape& x) {
  if (x.rank() >= 3 && x.rank() <= 5) return;
  ThrowShape(context, "a window slides over [N, spatial..., C] with 1 to 3 spatial axes", x,
             "give images as [N, H, W, C]");
}

// Axes that x does not have must be left alone.
void CheckUnusedAxes(Context& context, const Shape& x, const WindowOptions& options) {
  for (std::size_t axis = 0; axis < 5 - x.rank(); ++axis) {
    const bool unused = options.kernel[axis] == 1 && options.padding_begin[axis] == 0 &&
                        options.padding_end[axis] == 0;
    if (!unused) {
      ThrowShape(context, "the window slides over more spatial axes than the input has", x,
                 "give images as [N, H, W, C]");
    }
  }
}

std::int64_t OutputExtent(Context& context, const Shape& x, const WindowGeometry& g,
                          std::size_t axis) {
  const std::int64_t reach = g.dilation[axis] * (g.kernel[axis] - 1) + 1;
  const std::int64_t room = g.input[axis] + g.padding_begin[axis] + g.padding_end[axis];
  if (reach > room) {
    ThrowShape(context,
               "a kernel that reaches over " + std::to_string(reach) +
                   " positions fits into the padded input of " + std::to_string(room),
               x, "use a smaller kernel or stride before it, or more padding");
  }
  return (room - reach) / g.stride[axis] + 1;
}

struct ConvCall {
  Shape shape;  // of x
  DType dtype;
  int slot;
  const Parameter* weight;
  const Parameter* bias;
  ConvGeometry geometry;

  double Flops() const {
    const WindowGeometry& w = geometry.window;
    return 2.0 * static_cast<double>(w.batch * w.OutputSize()) *
           static_cast<double>(weight->shape.ElementCount());
  }
};

void Forward(Context& context, const ConvCall& call, const Tensor& x, const Tensor& y,
             LinearEpilogue epilogue) {
  const AffineTensors p = ValuesOf(context, call.weight, call.bias);
  ConvKernels& conv = context.backend().conv();
  context.Launch({.kind = OperationKind::kConvolution,
                  .bytes = BytesOf(x, p.weight, p.bias, y),
                  .flops = call.Flops(),
                  .scratch_bytes = conv.ForwardScratch(call.geometry, y.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.conv().Forward(call.geometry, x, p.weight, p.bias, y, epilogue, scratch);
                 });
}

void AddWeightGradient(Context& context, const ConvCall& call, const Tensor& x, const Tensor& dy) {
  AffineTensors d = GradientsOf(context, call.weight, call.bias);
  // A trained bias beside a frozen weight: the kernel still wants a place for the latter's.
  if (!d.weight) {
    d.weight = context.Allocate(call.weight->shape, context.master_dtype(), MemoryTag::kWorkspace);
  }
  ConvKernels& conv = context.backend().conv();
  context.Launch({.kind = OperationKind::kConvolution,
                  .bytes = BytesOf(dy, x) + BytesOfGradients(d),
                  .flops = call.Flops(),
                  .scratch_bytes = conv.BackwardWeightScratch(
                      call.geometry, dy.dtype(), static_cast<bool>(d.bias), d.accumulate)},
                 [&](Backend& backend, void* scratch) {
                   backend.conv().BackwardWeight(call.geometry, dy, x, d.weight, d.bias,
                                                 d.accumulate, scratch);
                 });
}

Tensor InputGradient(Context& context, const ConvCall& call, const Tensor& dy) {
  const Tensor weight = context.parameters().Value(*call.weight);
  const Tensor dx = context.Allocate(call.shape, call.dtype);
  ConvKernels& conv = context.backend().conv();
  context.Launch({.kind = OperationKind::kConvolution,
                  .bytes = BytesOf(dy, weight, dx),
                  .flops = call.Flops(),
                  .scratch_bytes = conv.BackwardDataScratch(call.geometry, dy.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.conv().BackwardData(call.geometry, dy, weight, dx, scratch);
                 });
  return dx;
}

ConvGeometry FitConvolution(Context& context, const Shape& x, const Parameter& weight,
                            const WindowOptions& options, std::int64_t groups) {
  const WindowGeometry window = FitWindow(context, x, options);
  const std::int64_t channels = weight.shape[1] * groups;
  if (x.back() != channels) {
    ThrowShape(context, "convolution takes " + std::to_string(channels) + " channels", x,
               "change the layer's input channels");
  }
  return {window, channels, weight.shape[0], groups};
}

}  // namespace

WindowGeometry FitWindow(Context& context, const Shape& x, const WindowOptions& options) {
  CheckSpatialRank(context, x);
  CheckUnusedAxes(context, x, options);
  WindowGeometry g;
  g.batch = x[0];
  g.kernel = options.kernel;
  g.stride = options.stride;
  g.padding_begin = options.padding_begin;
  g.padding_end = options.padding_end;
  g.dilation = options.dilation;
  const std::size_t spatial_rank = x.rank() - 2;
  for (std::size_t axis = 3 - spatial_rank; axis < 3; ++axis) {
    g.input[axis] = x[1 + axis - (3 - spatial_rank)];
    g.output[axis] = OutputExtent(context, x, g, axis);
  }
  return g;
}

Shape WindowOutputShape(const WindowGeometry& window, const Shape& x, std::int64_t channels) {
  Shape y = x;
  const std::size_t spatial_rank = x.rank() - 2;
  for (std::size_t i = 0; i < spatial_rank; ++i) y[1 + i] = window.output[3 - spatial_rank + i];
  y[y.rank() - 1] = channels;
  return y;
}

Var Convolution(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
                const WindowOptions& options, std::int64_t groups, ActivationFunction function) {
  const ConvGeometry geometry = FitConvolution(context, x.shape(), weight, options, groups);
  const bool fused = context.backend().conv().FusesActivation(function.kind);
  const ActivationFunction inside = fused ? function : ActivationFunction();
  const ConvCall call{x.shape(), x.dtype(), x.slot, &weight, bias, geometry};
  const Tensor y = context.Allocate(
      WindowOutputShape(geometry.window, x.shape(), geometry.output_channels), x.dtype());
  Forward(context, call, x.value, y, {inside.kind, inside.parameter});
  const Tensor kept = inside.kind == Activation::kIdentity ? Tensor() : y;
  const bool differentiable = IsDifferentiable(x, &weight, bias);
  const bool trained = IsDifferentiable({}, &weight, bias);
  const SavedTensor input = trained ? SavedTensor(x) : SavedTensor();
  const Var result = context.Record(y, differentiable, [=](Context& ctx, Tensor dy) {
    const Tensor dz = ActivationGradient(ctx, inside, std::move(dy), kept);
    if (trained) {
      ctx.RunDeferred(Deferred::kWeights, [call, x = input.Get(ctx), dz](Context& in) {
        AddWeightGradient(in, call, x, dz);
      });
    }
    if (call.slot != Var::kNoGradient) ctx.Accumulate(call.slot, InputGradient(ctx, call, dz));
  });
  return fused ? result : Activate(context, result, function);
}

}  // namespace frugal
