#include "sdk/backend/onednn/matmul/split_products.h"

#include <algorithm>

#include "sdk/backend/onednn/matmul/split_gemm.h"

namespace frugal::onednn {
namespace {

using std::int64_t;

// Splitting the numbers takes longer than the tiles save where a side of the product is short: of
// few rows, the whole weight is split for them.
constexpr int64_t kShort = 64, kFewRows = 192;

bool IsOurs(const Tensor& rows, const LinearWeight& weight) {
  return rows.dtype() == DType::kF32 && rows.shape().RowCount() >= kFewRows &&
         std::min(weight.inputs(), weight.outputs()) >= kShort;
}

bool IsOurs(const Tensor& dy, const Tensor& x) {
  return dy.dtype() == DType::kF32 &&
         std::min({dy.shape().RowCount(), x.shape().back(), dy.shape().back()}) >= kShort;
}

SplitGemm ForwardOf(const Tensor& x, const LinearWeight& weight) {
  return {.depth = weight.inputs(), .rows = x.shape().RowCount(), .columns = weight.outputs()};
}

SplitGemm BackwardDataOf(const Tensor& dy, const LinearWeight& weight) {
  return {.depth = weight.outputs(), .rows = dy.shape().RowCount(), .columns = weight.inputs()};
}

SplitGemm BackwardWeightOf(const Tensor& dy, const Tensor& x, WeightLayout layout) {
  const int64_t outputs = dy.shape().back(), inputs = x.shape().back();
  const bool out_in = layout == WeightLayout::kOutIn;
  return {.depth = dy.shape().RowCount(),
          .rows = out_in ? outputs : inputs,
          .columns = out_in ? inputs : outputs};
}

const float* DataOf(const Tensor& tensor) { return tensor ? tensor.data<float>() : nullptr; }

}  // namespace

int64_t SplitProducts::LinearForwardScratch(const Tensor& x, const LinearWeight& weight) const {
  if (!IsOurs(x, weight)) return exact_.LinearForwardScratch(x, weight);
  return ForwardOf(x, weight).ScratchBytes();
}

void SplitProducts::LinearForward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
                                  const Tensor& residual, const Tensor& y, LinearEpilogue epilogue,
                                  void* scratch) {
  if (!IsOurs(x, weight)) {
    return exact_.LinearForward(x, weight, bias, residual, y, epilogue, scratch);
  }
  const bool out_in = weight.layout == WeightLayout::kOutIn;
  SplitGemm gemm = ForwardOf(x, weight);
  gemm.left = {x.data<float>(), gemm.depth, false};
  gemm.right = {weight.tensor.data<float>(), out_in ? gemm.depth : gemm.columns, !out_in};
  gemm.c = y.data<float>();
  gemm.bias = DataOf(bias);
  gemm.residual = DataOf(residual);
  gemm.relu = epilogue.activation == Activation::kRelu;
  gemm.Run(scratch);
}

int64_t SplitProducts::LinearBackwardDataScratch(const Tensor& dy,
                                                 const LinearWeight& weight) const {
  if (!IsOurs(dy, weight)) return exact_.LinearBackwardDataScratch(dy, weight);
  return BackwardDataOf(dy, weight).ScratchBytes();
}

void SplitProducts::LinearBackwardData(const Tensor& dy, const LinearWeight& weight,
                                       const Tensor& dx, bool accumulate, void* scratch) {
  if (!IsOurs(dy, weight)) return exact_.LinearBackwardData(dy, weight, dx, accumulate, scratch);
  const bool out_in = weight.layout == WeightLayout::kOutIn;
  SplitGemm gemm = BackwardDataOf(dy, weight);
  gemm.left = {dy.data<float>(), gemm.depth, false};
  gemm.right = {weight.tensor.data<float>(), out_in ? gemm.columns : gemm.depth, out_in};
  gemm.c = dx.data<float>();
  gemm.accumulate = accumulate;
  gemm.Run(scratch);
}

int64_t SplitProducts::LinearBackwardWeightScratch(const Tensor& dy, const Tensor& x,
                                                   bool accumulate) const {
  const int64_t exact = exact_.LinearBackwardWeightScratch(dy, x, accumulate);
  if (!IsOurs(dy, x)) return exact;
  return std::max({exact, BackwardWeightOf(dy, x, WeightLayout::kOutIn).ScratchBytes(),
                   BackwardWeightOf(dy, x, WeightLayout::kInOut).ScratchBytes()});
}

void SplitProducts::LinearBackwardWeight(const Tensor& dy, const Tensor& x,
                                         const LinearWeight& dweight, const Tensor& dbias,
                                         bool accumulate, void* scratch) {
  if (!IsOurs(dy, x) || !dweight.tensor) {
    return exact_.LinearBackwardWeight(dy, x, dweight, dbias, accumulate, scratch);
  }
  const bool out_in = dweight.layout == WeightLayout::kOutIn;
  SplitGemm gemm = BackwardWeightOf(dy, x, dweight.layout);
  gemm.left = {DataOf(out_in ? dy : x), gemm.rows, true};
  gemm.right = {DataOf(out_in ? x : dy), gemm.columns, true};
  gemm.c = dweight.tensor.data<float>();
  gemm.accumulate = accumulate;
  gemm.Run(scratch);
  if (dbias) {
    exact_.LinearBackwardWeight(dy, x, LinearWeight(Tensor()), dbias, accumulate, scratch);
  }
}

}  // namespace frugal::onednn
