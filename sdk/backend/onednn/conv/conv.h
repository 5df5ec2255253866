#pragma once

#include "sdk/backend/eigen/conv/conv.h"
#include "sdk/backend/onednn/operation/operation_cache.h"

namespace frugal {

// Convolutions with channels-last activations: oneDNN's, direct or by winograd_onednn.h, for which
// weights are copied into their own layout at each call and weight gradients out of it, and those
// of this folder. What oneDNN has only plain loops for, empty tensors and other element types go to
// the reference.
class OneDnnConvKernels final : public EigenConvKernels {
 public:
  explicit OneDnnConvKernels(onednn::OperationCache& cache) : cache_(cache) {}

  bool FusesActivation(Activation activation) const override;
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
  onednn::Operation* Find(const onednn::ConvDescription& description) const;

  onednn::OperationCache& cache_;
};

}  // namespace frugal
