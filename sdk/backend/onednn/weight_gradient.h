#pragma once

#include "sdk/backend/kernels.h"
#include "sdk/backend/onednn/simd/cpu_features.h"

namespace frugal::onednn {

// The gradient of a weight and of a bias, in f32, of bf16 rows, on matrix tiles: for a processor of
// which simd::HasAmxBf16() is true. The rows are taken some hundreds at a time: their panels of the
// right factor (see simd/panel_product.h) are packed to lie in the second cache of each core, then
// each thread packs panels of the left factor, which stay in its first cache while they meet all
// right ones. Each sum over the rows has one order, whatever the number of threads.
class WeightGradient {
 public:
  static bool IsAvailable() { return simd::HasAmxBf16(); }

  WeightGradient(const Tensor& dy, const Tensor& x) : dy_(dy), x_(x) {}

  // For either layout of the weight.
  std::int64_t ScratchBytes() const;

  // dweight or dbias may be none.
  void Run(const LinearWeight& dweight, const Tensor& dbias, bool accumulate, void* scratch) const;

 private:
  const Tensor& dy_;
  const Tensor& x_;
};

}  // namespace frugal::onednn
