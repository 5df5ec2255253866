#include "sdk/ops/support/convolution_launch.h"

#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

double FlopsOf(const ConvolutionCall& call) {
  const WindowGeometry& w = call.geometry.window;
  return 2.0 * static_cast<double>(w.batch * w.OutputSize()) *
         static_cast<double>(call.weight->shape.ElementCount());
}

}  // namespace

void LaunchConvolutionForward(Context& context, const ConvolutionCall& call, const Tensor& x,
                              const Tensor& y, LinearEpilogue epilogue) {
  const AffineTensors p = ValuesOf(context, call.weight, call.bias);
  ConvKernels& conv = context.backend().conv();
  const LaunchCost cost{.kind = OperationKind::kConvolution,
                        .bytes = BytesOf(x, p.weight, p.bias, y),
                        .flops = FlopsOf(call),
                        .scratch_bytes = conv.ForwardScratch(call.geometry, y.dtype())};
  const auto kernel = [=, geometry = call.geometry](Backend& backend, void* scratch) {
    backend.conv().Forward(geometry, x, p.weight, p.bias, y, epilogue, scratch);
  };
  if (epilogue.activation == Activation::kIdentity) return context.LaunchResult(y, cost, kernel);
  context.Launch(cost, kernel);
}

void LaunchConvolutionBackwardWeight(Context& context, const ConvolutionCall& call, const Tensor& x,
                                     const Tensor& dy, const AffineTensors& d) {
  ConvKernels& conv = context.backend().conv();
  context.Launch({.kind = OperationKind::kConvolution,
                  .bytes = BytesOf(dy, x) + BytesOfGradients(d),
                  .flops = FlopsOf(call),
                  .scratch_bytes = conv.BackwardWeightScratch(
                      call.geometry, dy.dtype(), static_cast<bool>(d.bias), d.accumulate)},
                 [&](Backend& backend, void* scratch) {
                   backend.conv().BackwardWeight(call.geometry, dy, x, d.weight, d.bias,
                                                 d.accumulate, scratch);
                 });
}

Tensor LaunchConvolutionBackwardData(Context& context, const ConvolutionCall& call,
                                     const Tensor& dy) {
  const Tensor weight = context.parameters().Value(*call.weight);
  const Tensor dx = context.Allocate(call.shape, call.dtype);
  ConvKernels& conv = context.backend().conv();
  context.Launch({.kind = OperationKind::kConvolution,
                  .bytes = BytesOf(dy, weight, dx),
                  .flops = FlopsOf(call),
                  .scratch_bytes = conv.BackwardDataScratch(call.geometry, dy.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.conv().BackwardData(call.geometry, dy, weight, dx, scratch);
                 });
  return dx;
}

}  // namespace frugal
