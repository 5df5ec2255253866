#pragma once

#include "sdk/backend/conv_kernels.h"
#include "sdk/backend/product_kernels.h"

namespace frugal::onednn {

// Serves processors without fast bf16 products (HasFastBf16Products): products of bf16 tensors are
// taken as those of f32 copies of them in scratch, some rows at a time, with the f32 weight itself,
// which no bf16 copy stands beside; results are rounded once. Memory is saved as elsewhere, time is
// not. All else is left to `exact`.
class UpcastProducts final : public ProductKernels {
 public:
  explicit UpcastProducts(ProductKernels& exact) : exact_(exact) {}

  std::int64_t PackedWeightBytes(const LinearWeight& /*weight*/) const override { return 0; }
  void PackWeight(const LinearWeight& /*weight*/, const Tensor& /*packed*/) override {}

  bool FusesActivation(Activation activation) const override {
    return exact_.FusesActivation(activation);
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

// Does the same for convolutions, some images at a time.
class UpcastConvolutions final : public ConvKernels {
 public:
  explicit UpcastConvolutions(ConvKernels& exact) : exact_(exact) {}

  bool FusesActivation(Activation activation) const override {
    return exact_.FusesActivation(activation);
  }
  std::int64_t ForwardScratch(const ConvGeometry& g, DType dtype) const override;
  void Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
               const Tensor& y, LinearEpilogue epilogue, void* scratch) override;
  std::int64_t BackwardDataScratch(const ConvGeometry& g, DType dtype) const override;
  void BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, const Tensor& dx,
                    void* scratch) override;
  std::int64_t BackwardWeightScratch(const ConvGeometry& g, DType dtype, bool has_bias,
                                     bool accumulate) const override;
  void BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                      const Tensor& dweight, const Tensor& dbias, bool accumulate,
                      void* scratch) override;

 private:
  ConvKernels& exact_;
};

}  // namespace frugal::onednn
