#pragma once

#include "sdk/backend/eigen/matmul/product.h"
#include "sdk/backend/onednn/gemm/gemm.h"
#include "sdk/backend/onednn/matmul/bf16_products.h"
#include "sdk/backend/onednn/operation/operation_cache.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// bf16 products are Bf16Products. f32 products: forward is a oneDNN matmul with bias, residual
// and activation fused, backward is oneDNN's sgemm, or its matmul where that pays, and either is
// a BlockedGemm or a NoCopyGemm where that pays. Empty tensors and other element types go to the
// reference.
class OneDnnProductKernels final : public EigenProductKernels {
 public:
  explicit OneDnnProductKernels(onednn::OperationCache& cache) : cache_(cache), bf16_(cache) {}

  std::int64_t PackedWeightBytes(const LinearWeight& weight) const override {
    return bf16_.WeightBytes(weight);
  }
  std::int64_t FastWidth(const LinearWeight& weight) const override {
    return bf16_.FastWidth(weight);
  }
  void PackWeight(const LinearWeight& weight, const Tensor& packed) override {
    bf16_.Pack(weight, packed);
  }

  bool FusesActivation(Activation activation) const override;
  std::int64_t LinearForwardScratch(const Tensor& x, const LinearWeight& weight) const override;
  void LinearForward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
                     const Tensor& residual, const Tensor& y, LinearEpilogue epilogue,
                     void* scratch) override;
  std::int64_t LinearBackwardDataScratch(const Tensor& dy,
                                         const LinearWeight& weight) const override;
  void LinearBackwardData(const Tensor& dy, const LinearWeight& weight, const Tensor& dx,
                          bool accumulate, void* scratch) override;
  std::int64_t LinearBackwardWeightScratch(const Tensor& dy, const Tensor& x,
                                           bool accumulate) const override;
  void LinearBackwardWeight(const Tensor& dy, const Tensor& x, const LinearWeight& dweight,
                            const Tensor& dbias, bool accumulate, void* scratch) override;

 private:
  // Returns oneDNN's matmul where that is faster than sgemm, else nullptr.
  onednn::Operation* FindMatmul(const onednn::Gemm& gemm, bool accumulate) const;
  std::int64_t GradientScratch(const onednn::Gemm& gemm, bool accumulate) const;
  // c = or += the product of both factors, whose sizes are the gemm's.
  void MultiplyGradient(onednn::Gemm gemm, const Tensor& left, const Tensor& right, bool accumulate,
                        const Tensor& c, void* scratch);

  onednn::OperationCache& cache_;
  onednn::Bf16Products bf16_;
  const simd::Loops& loops_ = simd::SelectLoops();
};

}  // namespace frugal
