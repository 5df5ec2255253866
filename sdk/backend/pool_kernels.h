#pragma once

#include <cstdint>

#include "sdk/backend/geometry.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

class PoolKernels {
 public:
  virtual ~PoolKernels() = default;

  // Bytes of the record of where each maximum lay, which only this backend reads (kU8 tensor).
  virtual std::int64_t MaxIndexBytes(const PoolGeometry& g, DType dtype) const = 0;
  virtual std::int64_t Scratch(const PoolGeometry& g, DType dtype) const = 0;
  virtual void MaxForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                          const Tensor& index, void* scratch) = 0;
  virtual void MaxBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& index,
                           const Tensor& dx, void* scratch) = 0;
  virtual void AverageForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                              void* scratch) = 0;
  virtual void AverageBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx,
                               void* scratch) = 0;
  // Output position i averages the input positions floor(i in / out) .. ceil((i + 1) in / out);
  // kernel, stride and padding of the geometry are not used.
  virtual void AdaptiveForward(const PoolGeometry& g, const Tensor& x, const Tensor& y) = 0;
  virtual void AdaptiveBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx) = 0;
};

}  // namespace frugal
