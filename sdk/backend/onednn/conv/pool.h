#pragma once

#include "sdk/backend/eigen/conv/pool.h"
#include "sdk/backend/onednn/operation/operation_cache.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// f32: maxima by the vectorized loops of simd/, averages by oneDNN. oneDNN's maximum takes 1.9 to
// 3.4 times as long forward (with a record) and 1.6 to 3 times backward, longer than the plain
// reference. The record of a maximum is one byte: which position of the part of the window inside
// the input it was. Windows of more than 255 positions, dilated averages, empty tensors and other
// element types go to the reference, and so does adaptive pooling unless every output averages
// equally many inputs.
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
  onednn::Operation* Find(const onednn::PoolDescription& description, DType dtype) const;
  onednn::Operation* FindAdaptive(const PoolGeometry& g, DType dtype, bool backward) const;

  onednn::OperationCache& cache_;
  const simd::PoolLoops& loops_ = simd::SelectLoops().pool;
};

}  // namespace frugal
