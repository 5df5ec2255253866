#pragma once

#include "sdk/backend/onednn/operation/operation_cache.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/product_kernels.h"

namespace frugal::onednn {

// Products of bf16 tensors that add up in f32, on the matrix units where the processor has them.
// Forward and the input's gradient read one packed copy of the weight, in the layout that oneDNN's
// matmul asks for. packed_gemm.h computes both where rows are many (and transposes the copy, in
// scratch, for the input's gradient), data_gradient.h the latter for a vocabulary, oneDNN the rest;
// it copies a weight of few inputs or outputs again for the input's gradient, and some of few rows.
// The weight's gradient is written in f32, in the weight's own layout. Meanings and shapes as in
// ProductKernels.
class Bf16Products {
 public:
  explicit Bf16Products(OperationCache& cache) : cache_(cache) {}

  std::int64_t WeightBytes(const LinearWeight& weight) const;
  void Pack(const LinearWeight& weight, const Tensor& packed) const;
  // Rows of whole blocks lie at even addresses: bench_kernels has products with 50,257 columns
  // and with 50,304.
  std::int64_t FastWidth(const LinearWeight& weight) const;

  std::int64_t ForwardScratch(const Tensor& x, const LinearWeight& weight) const;
  void Forward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
               const Tensor& residual, const Tensor& y, LinearEpilogue epilogue,
               void* scratch) const;
  std::int64_t BackwardDataScratch(const Tensor& dy, const LinearWeight& weight) const;
  void BackwardData(const Tensor& dy, const LinearWeight& weight, const Tensor& dx,
                    void* scratch) const;
  std::int64_t BackwardWeightScratch(const Tensor& dy, const Tensor& x, bool accumulate) const;
  void BackwardWeight(const Tensor& dy, const Tensor& x, const LinearWeight& dweight,
                      const Tensor& dbias, bool accumulate, void* scratch) const;

 private:
  Operation& Get(const Description& description) const;

  OperationCache& cache_;
  const simd::NormLoops<BFloat16>& loops_ = simd::SelectLoops().bf16.norm;
};

}  // namespace frugal::onednn
