#include "sdk/ops/support/product_launch.h"

namespace frugal {
namespace {

double ProductFlops(const Tensor& rows, const Tensor& weight) {
  return 2.0 * static_cast<double>(rows.shape().RowCount()) * static_cast<double>(weight.size());
}

}  // namespace

void LaunchLinearForward(Context& context, const Tensor& x, const LinearWeight& weight,
                         const Tensor& bias, const Tensor& residual, const Tensor& y,
                         LinearEpilogue epilogue) {
  ProductKernels& product = context.backend().product();
  const LaunchCost cost{.kind = OperationKind::kMatmul,
                        .bytes = BytesOf(x, weight.Read(), bias, residual, y),
                        .flops = ProductFlops(x, weight.tensor),
                        .scratch_bytes = product.LinearForwardScratch(x, weight)};
  const auto kernel = [=](Backend& backend, void* scratch) {
    backend.product().LinearForward(x, weight, bias, residual, y, epilogue, scratch);
  };
  if (epilogue.activation == Activation::kIdentity) return context.LaunchResult(y, cost, kernel);
  context.Launch(cost, kernel);
}

void LaunchLinearBackwardData(Context& context, const Tensor& dy, const LinearWeight& weight,
                              const Tensor& dx) {
  ProductKernels& product = context.backend().product();
  context.Launch({.kind = OperationKind::kMatmul,
                  .bytes = BytesOf(dy, weight.Read(), dx),
                  .flops = ProductFlops(dy, weight.tensor),
                  .scratch_bytes = product.LinearBackwardDataScratch(dy, weight)},
                 [&](Backend& backend, void* scratch) {
                   backend.product().LinearBackwardData(dy, weight, dx, false, scratch);
                 });
}

void LaunchLinearBackwardWeight(Context& context, const Tensor& dy, const Tensor& x,
                                const AffineTensors& gradients, WeightLayout layout) {
  const bool accumulate = gradients.accumulate;
  ProductKernels& product = context.backend().product();
  context.Launch({.kind = OperationKind::kMatmul,
                  .bytes = BytesOf(dy, x) + BytesOfGradients(gradients),
                  .flops = ProductFlops(dy, gradients.weight),
                  .scratch_bytes = product.LinearBackwardWeightScratch(dy, x, accumulate)},
                 [&](Backend& backend, void* scratch) {
                   backend.product().LinearBackwardWeight(dy, x, {gradients.weight, layout},
                                                          gradients.bias, accumulate, scratch);
                 });
}

}  // namespace frugal
