#pragma once

#include "sdk/backend/array_kernels.h"

namespace frugal {

// Enlarges images in f32 and f64. Backward gathers, row of dx by row, so that no two threads write
// one element.
class EigenResampleKernels : public ResampleKernels {
 public:
  void NearestForward(std::int64_t factor, const Tensor& x, const Tensor& y) override;
  void NearestBackward(std::int64_t factor, const Tensor& dy, const Tensor& dx) override;
  void BilinearForward(std::int64_t factor, const Tensor& x, const Tensor& y) override;
  void BilinearBackward(std::int64_t factor, const Tensor& dy, const Tensor& dx) override;
};

}  // namespace frugal
