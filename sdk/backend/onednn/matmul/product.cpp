#include "sdk/backend/onednn/matmul/product.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/onednn/gemm/choose_gemm.h"
#include "sdk/backend/onednn/operation/fused_activations.h"
#include "sdk/backend/onednn/operation/partial_rows.h"

namespace frugal {
namespace {

using onednn::Gemm;
using onednn::LinearDescription;
using onednn::Slot;

bool IsBf16(const Tensor& x) { return x.dtype() == DType::kBF16; }

bool IsOurs(const Tensor& a, const Tensor& b) {
  return a.dtype() == DType::kF32 && a.size() > 0 && b.size() > 0;
}

// [in, out] is the order a product reads, so that copying pays where the rows are many, and earlier
// where a weight's rows are so wide that oneDNN's kernel, which reads some columns of each, finds
// the next one far away, above all a multiple of 2 KB (`./run bench libraries NN:256x5120x1280
// NN:256x3840x1280`: 1.9 and 1.2 times the speed). Rows of a power of two it copies itself. Where
// NoCopyGemm does better, it is not asked.
bool PaysToPackInOut(std::int64_t rows, std::int64_t outputs) {
  if (outputs < 2304) return rows >= 2048;
  if (outputs < 2560 || std::has_single_bit(static_cast<std::uint64_t>(outputs))) {
    return rows >= 1024;
  }
  constexpr std::int64_t kApart = 512;
  return rows >= (outputs >= 3072 && outputs % kApart == 0 ? 64 : 256);
}

// Copying the weight into oneDNN's own layout costs one pass over it. That pays where the rows are
// many (8192 x 64 x 64: 326 instead of 311 GFLOP/s) or where a weight has few outputs, so that
// every thread would transpose all of it (128 x 3136 x 128: 264 instead of 222); elsewhere it
// costs (128 x 784 x 1024: 269 instead of 307).
bool PaysToPack(std::int64_t rows, const LinearWeight& weight) {
  const std::int64_t outputs = weight.outputs();
  if (weight.layout == WeightLayout::kInOut) return PaysToPackInOut(rows, outputs);
  return rows >= 2048 || (rows >= 64 && outputs >= 32 && outputs <= 256);
}

LinearDescription DescribeForward(const Tensor& x, const LinearWeight& weight) {
  LinearDescription d;
  d.rows = x.shape().RowCount();
  d.inputs = weight.inputs();
  d.outputs = weight.outputs();
  d.layout = weight.layout;
  d.packed = PaysToPack(d.rows, weight);
  return d;
}

// The gradient of the input, dx [rows, inputs] = dy weight, without data.
Gemm InputGradientGemm(std::int64_t rows, const LinearWeight& weight) {
  const bool out_in = weight.layout == WeightLayout::kOutIn;
  const std::int64_t outputs = weight.outputs(), inputs = weight.inputs();
  return {.transpose_a = 'N',
          .transpose_b = out_in ? 'N' : 'T',
          .m = rows,
          .n = inputs,
          .k = outputs,
          .stride_a = outputs,
          .stride_b = out_in ? inputs : outputs};
}

// The gradient of a weight [left's columns, right's columns] = left^T right, without data.
Gemm WeightGradientGemm(const Tensor& left, const Tensor& right) {
  const std::int64_t m = left.shape().back(), n = right.shape().back();
  return {.transpose_a = 'T',
          .transpose_b = 'N',
          .m = m,
          .n = n,
          .k = left.shape().RowCount(),
          .stride_a = m,
          .stride_b = n};
}

}  // namespace

bool OneDnnProductKernels::FusesActivation(Activation activation) const {
  return onednn::IsFused(activation);
}

// The epilogue is not known here: enough for any.
std::int64_t OneDnnProductKernels::LinearForwardScratch(const Tensor& x,
                                                        const LinearWeight& weight) const {
  if (IsBf16(x)) return bf16_.ForwardScratch(x, weight);
  if (!IsOurs(x, weight.tensor)) return EigenProductKernels::LinearForwardScratch(x, weight);
  std::int64_t bytes = EigenProductKernels::LinearForwardScratch(x, weight);
  LinearDescription d = DescribeForward(x, weight);
  for (const Activation activation : {Activation::kIdentity, Activation::kRelu}) {
    for (const int flags : {0, 1, 2, 3}) {
      d.epilogue.activation = activation;
      d.bias = (flags & 1) != 0;
      d.residual = (flags & 2) != 0;
      const onednn::Operation* operation = cache_.Find(d);
      if (operation != nullptr) bytes = std::max(bytes, operation->ScratchBytes());
    }
  }
  return bytes;
}

void OneDnnProductKernels::LinearForward(const Tensor& x, const LinearWeight& weight,
                                         const Tensor& bias, const Tensor& residual,
                                         const Tensor& y, LinearEpilogue epilogue, void* scratch) {
  if (IsBf16(x)) return bf16_.Forward(x, weight, bias, residual, y, epilogue, scratch);
  onednn::Operation* operation = nullptr;
  if (IsOurs(x, weight.tensor)) {
    LinearDescription d = DescribeForward(x, weight);
    d.bias = static_cast<bool>(bias);
    d.residual = static_cast<bool>(residual);
    d.epilogue = epilogue;
    operation = cache_.Find(d);
  }
  if (operation == nullptr) {
    EigenProductKernels::LinearForward(x, weight, bias, residual, y, epilogue, scratch);
    return;
  }
  operation->Run({{Slot::kSource, x.raw()},
                  {Slot::kWeight, weight.tensor.raw()},
                  {Slot::kBias, bias.raw()},
                  {Slot::kResidual, residual.raw()},
                  {Slot::kDestination, y.raw()}},
                 scratch);
}

onednn::Operation* OneDnnProductKernels::FindMatmul(const Gemm& gemm, bool accumulate) const {
  if (!onednn::MatmulPays(gemm)) return nullptr;
  return cache_.Find(onednn::GemmDescription{.transpose_a = gemm.transpose_a,
                                             .transpose_b = gemm.transpose_b,
                                             .m = gemm.m,
                                             .n = gemm.n,
                                             .k = gemm.k,
                                             .accumulate = accumulate});
}

std::int64_t OneDnnProductKernels::GradientScratch(const Gemm& gemm, bool accumulate) const {
  const onednn::Operation* const matmul = FindMatmul(gemm, accumulate);
  return matmul == nullptr ? onednn::GemmScratch(gemm) : matmul->ScratchBytes();
}

void OneDnnProductKernels::MultiplyGradient(Gemm gemm, const Tensor& left, const Tensor& right,
                                            bool accumulate, const Tensor& c, void* scratch) {
  if (onednn::Operation* const matmul = FindMatmul(gemm, accumulate)) {
    matmul->Run(
        {{Slot::kSource, left.raw()}, {Slot::kWeight, right.raw()}, {Slot::kDestination, c.raw()}},
        scratch);
    return;
  }
  gemm.a = left.data<float>();
  gemm.b = right.data<float>();
  onednn::Multiply(gemm, accumulate, c.data<float>(), scratch);
}

std::int64_t OneDnnProductKernels::LinearBackwardDataScratch(const Tensor& dy,
                                                             const LinearWeight& weight) const {
  if (IsBf16(dy)) return bf16_.BackwardDataScratch(dy, weight);
  if (!IsOurs(dy, weight.tensor)) return EigenProductKernels::LinearBackwardDataScratch(dy, weight);
  const Gemm gemm = InputGradientGemm(dy.shape().RowCount(), weight);
  return std::max(GradientScratch(gemm, false), GradientScratch(gemm, true));
}

// sgemm mostly beats a oneDNN matmul with packed weights, which must be packed again at each call
// (128 x 784 x 1024: 333 and 189 GFLOP/s), and with plain ones (1024 x 3072 x 768: 342 and 185).
void OneDnnProductKernels::LinearBackwardData(const Tensor& dy, const LinearWeight& weight,
                                              const Tensor& dx, bool accumulate, void* scratch) {
  if (IsBf16(dy)) {
    assert(!accumulate);
    return bf16_.BackwardData(dy, weight, dx, scratch);
  }
  if (!IsOurs(dy, weight.tensor)) {
    EigenProductKernels::LinearBackwardData(dy, weight, dx, accumulate, scratch);
    return;
  }
  MultiplyGradient(InputGradientGemm(dy.shape().RowCount(), weight), dy, weight.tensor, accumulate,
                   dx, scratch);
}

std::int64_t OneDnnProductKernels::LinearBackwardWeightScratch(const Tensor& dy, const Tensor& x,
                                                               bool accumulate) const {
  if (IsBf16(dy)) return bf16_.BackwardWeightScratch(dy, x, accumulate);
  if (!IsOurs(dy, x)) {
    return EigenProductKernels::LinearBackwardWeightScratch(dy, x, accumulate);
  }
  return std::max({onednn::PartialRows(dy.shape().RowCount(), dy.shape().back()).Bytes(1),
                   GradientScratch(WeightGradientGemm(dy, x), accumulate),
                   GradientScratch(WeightGradientGemm(x, dy), accumulate)});
}

// sgemm mostly, again: inner_product's backward is the same code or slower (8192 x 64 x 64: 247 and
// 175 GFLOP/s), matmul varies more (1024 x 3072 x 768: 330 and 168).
void OneDnnProductKernels::LinearBackwardWeight(const Tensor& dy, const Tensor& x,
                                                const LinearWeight& dweight, const Tensor& dbias,
                                                bool accumulate, void* scratch) {
  if (IsBf16(dy)) return bf16_.BackwardWeight(dy, x, dweight, dbias, accumulate, scratch);
  if (!IsOurs(dy, x)) {
    EigenProductKernels::LinearBackwardWeight(dy, x, dweight, dbias, accumulate, scratch);
    return;
  }
  if (dweight.tensor) {
    const bool out_in = dweight.layout == WeightLayout::kOutIn;
    const Tensor &left = out_in ? dy : x, &right = out_in ? x : dy;
    MultiplyGradient(WeightGradientGemm(left, right), left, right, accumulate, dweight.tensor,
                     scratch);
  }
  if (!dbias) return;
  const float* const gradient = dy.data<float>();
  const std::int64_t outputs = dy.shape().back();
  const onednn::PartialRows parts(dy.shape().RowCount(), outputs);
  float* const sums = static_cast<float*>(scratch);
  parts.ForEach([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
    loops_.f32.norm.column_sums(gradient + begin * outputs, end - begin, outputs,
                                sums + part * outputs);
  });
  parts.AddUp(sums, accumulate, dbias.data<float>());
}

}  // namespace frugal
