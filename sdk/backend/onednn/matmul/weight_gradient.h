#pragma once

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/product_kernels.h"

namespace frugal::onednn {

// The gradient of a weight and of a bias, in f32, of bf16 rows, on matrix tiles: for a processor of
// which simd::HasAmxBf16() is true. Each thread has a piece of the product for itself and takes
// some hundreds of rows at a time: it packs panels of the right factor (simd/amx/panel_product.h),
// which stay in the second cache of its core, then some of the left one, each of which stays in the
// first cache while it meets all right ones. Each sum over the rows has one order, whatever the
// number of threads.
class WeightGradient {
 public:
  static bool IsAvailable() { return simd::HasAmxBf16(); }

  WeightGradient(const Tensor& dy, const Tensor& x) : dy_(dy), x_(x) {}

  // Returns what is enough for either layout of the weight. Depends on ThreadCount(), which must
  // not grow between this call and the run.
  std::int64_t ScratchBytes() const;

  // dweight or dbias may be none.
  void Run(const LinearWeight& dweight, const Tensor& dbias, bool accumulate, void* scratch) const;

 private:
  const Tensor& dy_;
  const Tensor& x_;
};

}  // namespace frugal::onednn
