#pragma once

#include "sdk/backend/eigen/pool.h"
#include "sdk/backend/onednn/operation_cache.h"

namespace frugal {

// oneDNN pooling in f32. The record of a maximum is oneDNN's workspace. Dilated windows, empty
// tensors and other element types go to the reference, and so does adaptive pooling unless every
// output averages equally many inputs.
class OneDnnPoolKernels final : public EigenPoolKernels {
 public:
  explicit OneDnnPoolKernels(onednn::OperationCache& cache) : cache_(cache) {}

  std::int64_t MaxIndexBytes(const PoolGeometry& g, DType dtype) const override;
  std::int64_t Scratch(const PoolGeometry& g, DType dtype) const override;
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

 private:
  // nullptr unless oneDNN has all directions, which must agree on the record.
  onednn::Operation* Find(const onednn::PoolDescription& description, DType dtype) const;
  onednn::Operation* FindAdaptive(const PoolGeometry& g, DType dtype, bool backward) const;

  onednn::OperationCache& cache_;
};

}  // namespace frugal
