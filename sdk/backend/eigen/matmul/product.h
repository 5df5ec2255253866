#pragma once

#include "sdk/backend/product_kernels.h"

namespace frugal {

// Eigen products, split over threads by fixed blocks of the output. Takes f32 and f64; tensors of
// more than two axes count as rows of their last one. Needs no scratch.
class EigenProductKernels : public ProductKernels {
 public:
  // UsageError: products of bf16 tensors are not the reference's.
  std::int64_t PackedWeightBytes(const LinearWeight& weight) const override;
  void PackWeight(const LinearWeight& weight, const Tensor& packed) override;

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
};

}  // namespace frugal
