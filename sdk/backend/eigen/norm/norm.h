#pragma once

#include "sdk/backend/norm_kernels.h"

namespace frugal {

// Normalizations in f32 and f64; statistics are summed in double precision, the variance in a
// second pass over the deviations. An empty dx, dweight or dbias is left out. dx may be dy, and y
// may be x. Scratch holds two sums per channel (group norm: per image and channel), and two
// coefficients for batch norm.
class EigenNormKernels : public NormKernels {
 public:
  void LayerForward(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                    const Tensor& y, const Tensor& mean, const Tensor& rstd) override;
  std::int64_t LayerBackwardScratch(const Tensor& x) const override;
  void LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                     const Tensor& weight, const Tensor& dx, const Tensor& dweight,
                     const Tensor& dbias, bool accumulate, void* scratch) override;

  void GroupForward(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                    const Tensor& bias, double epsilon, const Tensor& y, const Tensor& mean,
                    const Tensor& rstd) override;
  void GroupNormalize(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                      const Tensor& y) override;
  std::int64_t GroupBackwardScratch(const GroupNormGeometry& g, DType dtype) const override;
  void GroupBackward(const GroupNormGeometry& g, const Tensor& dy, const Tensor& x,
                     const Tensor& mean, const Tensor& rstd, const Tensor& weight, const Tensor& dx,
                     const Tensor& dweight, const Tensor& dbias, bool accumulate,
                     void* scratch) override;

  std::int64_t BatchScratch(const Tensor& x) const override;
  void BatchForward(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                    bool relu, const Tensor& y, const Tensor& mean, const Tensor& rstd,
                    void* scratch) override;
  void BatchNormalize(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                      const Tensor& rstd, bool relu, const Tensor& y, void* scratch) override;
  void BatchInference(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Tensor& running_mean, const Tensor& running_variance, double epsilon,
                      bool relu, const Tensor& y) override;
  void BatchBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                     const Tensor& weight, const Tensor& bias, bool relu, const Tensor& dx,
                     const Tensor& dweight, const Tensor& dbias, bool accumulate,
                     void* scratch) override;
  void BatchInferenceBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                              const Tensor& running_mean, const Tensor& running_variance,
                              const Tensor& weight, const Tensor& bias, double epsilon, bool relu,
                              const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
                              bool accumulate, void* scratch) override;
  // The variance of one row is 0 and stays so (PyTorch refuses such a batch).
  void UpdateRunning(const Tensor& mean, const Tensor& rstd, double epsilon, double momentum,
                     std::int64_t rows, const Tensor& running_mean,
                     const Tensor& running_variance) override;
};

}  // namespace frugal
