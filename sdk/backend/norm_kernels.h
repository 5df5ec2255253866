#pragma once

#include <cstdint>

#include "sdk/backend/geometry.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Normalizations with optional scale `weight` and shift `bias`; variances are biased (divide by n).
// mean and rstd (1 / sqrt(variance + epsilon)) are written by forward and read by backward; they
// have the element type of x, except kF32 where x is kBF16.
class NormKernels {
 public:
  virtual ~NormKernels() = default;

  // Returns true where these kernels take bf16 tensors of so many channels.
  virtual bool TakesBf16(std::int64_t /*channels*/) const { return false; }

  // x, y [M, D]; weight, bias [D] or none; mean, rstd [M]
  virtual void LayerForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            double epsilon, const Tensor& y, const Tensor& mean,
                            const Tensor& rstd) = 0;
  virtual std::int64_t LayerBackwardScratch(const Tensor& x) const = 0;
  virtual void LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                             const Tensor& rstd, const Tensor& weight, const Tensor& dx,
                             const Tensor& dweight, const Tensor& dbias, bool accumulate,
                             void* scratch) = 0;

  // x, y [N, S, C]; weight, bias [C] or none; mean, rstd [N, G]
  virtual void GroupForward(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                            const Tensor& bias, double epsilon, const Tensor& y, const Tensor& mean,
                            const Tensor& rstd) = 0;
  // y as GroupForward wrote it, again from what it found: the same bits.
  virtual void GroupNormalize(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                              const Tensor& y) = 0;
  virtual std::int64_t GroupBackwardScratch(const GroupNormGeometry& g, DType dtype) const = 0;
  virtual void GroupBackward(const GroupNormGeometry& g, const Tensor& dy, const Tensor& x,
                             const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                             const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
                             bool accumulate, void* scratch) = 0;

  // x, y [M, C]; statistics over M; mean, rstd [C]. y = relu?(normalized).
  virtual std::int64_t BatchScratch(const Tensor& x) const = 0;
  virtual void BatchForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            double epsilon, bool relu, const Tensor& y, const Tensor& mean,
                            const Tensor& rstd, void* scratch) = 0;
  // y as BatchForward wrote it, again from what it found: the same bits.
  virtual void BatchNormalize(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const Tensor& mean, const Tensor& rstd, bool relu, const Tensor& y,
                              void* scratch) = 0;
  // Normalizes with given statistics (evaluation): running_mean, running_variance [C].
  virtual void BatchInference(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const Tensor& running_mean, const Tensor& running_variance,
                              double epsilon, bool relu, const Tensor& y) = 0;
  // Where relu is set, no gradient passes at values where y was not above 0; y's sign is computed
  // from x again.
  virtual void BatchBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                             const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                             bool relu, const Tensor& dx, const Tensor& dweight,
                             const Tensor& dbias, bool accumulate, void* scratch) = 0;
  // Writes the gradients of BatchInference, whose statistics do not depend on x. The relu cuts by
  // y, or, where that is empty, by what x makes; else x is read only where dweight is given.
  // Scratch: BatchScratch(dy).
  virtual void BatchInferenceBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                                      const Tensor& running_mean, const Tensor& running_variance,
                                      const Tensor& weight, const Tensor& bias, double epsilon,
                                      bool relu, const Tensor& dx, const Tensor& dweight,
                                      const Tensor& dbias, bool accumulate, void* scratch) = 0;
  // running = (1 - momentum) running + momentum * batch statistic; the variance is made unbiased
  // with M / (M - 1) from rstd, as PyTorch does. Batch statistics that are not finite leave the
  // running ones as they are: of a training that diverges, the last good ones. mean, rstd,
  // running_* [C]
  virtual void UpdateRunning(const Tensor& mean, const Tensor& rstd, double epsilon,
                             double momentum, std::int64_t rows, const Tensor& running_mean,
                             const Tensor& running_variance) = 0;
};

}  // namespace frugal
