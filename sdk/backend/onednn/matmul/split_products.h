#pragma once

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/product_kernels.h"

namespace frugal::onednn {

// Products of f32 tensors as the sum of three bf16 products on matrix tiles (split_gemm.h), for a
// processor of which simd::HasAmxBf16() is true. Each number keeps 16 of its 24 digits, sums are of
// f32. Small products and all other types are left to `exact`.
class SplitProducts final : public ProductKernels {
 public:
  static bool IsAvailable() { return simd::HasAmxBf16(); }

  explicit SplitProducts(ProductKernels& exact) : exact_(exact) {}

  std::int64_t PackedWeightBytes(const LinearWeight& weight) const override {
    return exact_.PackedWeightBytes(weight);
  }
  void PackWeight(const LinearWeight& weight, const Tensor& packed) override {
    exact_.PackWeight(weight, packed);
  }
  std::int64_t FastWidth(const LinearWeight& weight) const override {
    return exact_.FastWidth(weight);
  }

  bool FusesActivation(Activation activation) const override {
    return activation == Activation::kIdentity || activation == Activation::kRelu;
  }
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
  ProductKernels& exact_;
};

}  // namespace frugal::onednn
