#include "sdk/ops/spatial/convolution.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/convolution_launch.h"

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

void AddWeightGradient(Context& context, const ConvolutionCall& call, const Tensor& x,
                       const Tensor& dy) {
  AffineTensors d = GradientsOf(context, call.weight, call.bias);
  // A trained bias beside a frozen weight: the kernel still wants a place for the latter's.
  if (!d.weight) {
    d.weight = context.Allocate(call.weight->shape, context.master_dtype(), MemoryTag::kWorkspace);
  }
  LaunchConvolutionBackwardWeight(context, call, x, dy, d);
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

Var Convolution(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
                const WindowOptions& options, std::int64_t groups, ActivationFunction function) {
  const ConvGeometry geometry = FitConvolution(context, x.shape(), weight, options, groups);
  const bool fused = context.backend().conv().FusesActivation(function.kind);
  const ActivationFunction inside = fused ? function : ActivationFunction();
  const ConvolutionCall call{x.shape(), x.dtype(), &weight, bias, geometry};
  const Tensor y = context.AllocateResult(
      WindowOutputShape(geometry.window, x.shape(), geometry.output_channels), x.dtype());
  LaunchConvolutionForward(context, call, x.value, y, {inside.kind, inside.parameter});
  const Tensor kept = inside.kind == Activation::kIdentity ? Tensor() : y;
  const bool differentiable = IsDifferentiable(x, &weight, bias);
  const bool trained = IsDifferentiable({}, &weight, bias);
  const SavedTensor input = trained ? SavedTensor(context, x) : SavedTensor();
  const Var result = context.Record(y, differentiable, [=, slot = x.slot](Context& ctx, Tensor dy) {
    const Tensor dz = ActivationGradient(ctx, inside, std::move(dy), kept);
    if (trained) {
      ctx.RunDeferred(Deferred::kWeights, [call, x = input.Get(ctx), dz](Context& in) {
        AddWeightGradient(in, call, x, dz);
      });
    }
    if (slot != Var::kNoGradient) {
      ctx.Accumulate(slot, LaunchConvolutionBackwardData(ctx, call, dz));
    }
  });
  return fused ? result : Activate(context, result, function);
}

}  // namespace frugal
