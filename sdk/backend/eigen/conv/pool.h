#pragma once

#include "sdk/backend/pool_kernels.h"

namespace frugal {

// Pooling by plain loops, channels innermost. Takes f32 and f64, needs no scratch. The index of a
// maximum is its flat input position in the plane, 4 bytes (-1 where a window holds only padding);
// of equal values the first counts, and NaN counts as the largest.
class EigenPoolKernels : public PoolKernels {
 public:
  std::int64_t MaxIndexBytes(const PoolGeometry& g, DType dtype) const override;
  std::int64_t Scratch(const PoolGeometry& g, DType dtype) const override;
  // An empty index is not written.
  void MaxForward(const PoolGeometry& g, const Tensor& x, const Tensor& y, const Tensor& index,
                  void* scratch) override;
  void MaxBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& index, const Tensor& dx,
                   void* scratch) override;
  void AverageForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                      void* scratch) override;
  void AverageBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx,
                       void* scratch) override;
  void AdaptiveForward(const PoolGeometry& g, const Tensor& x, const Tensor& y) override;
  void AdaptiveBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx) override;
};

}  // namespace frugal
