#pragma once

#include <cstdint>

namespace frugal::onednn {

// A factor of a product of f32 matrices: rows of the depth, [depth, width], or rows of it, [width,
// depth].
struct SplitFactor {
  const float* data;
  std::int64_t row;  // elements from one row to the next
  bool depth_in_rows;
};

// c [rows, columns] = left right + bias + residual, or c += left right, on matrix tiles as the sum
// of three bf16 products (simd/amx/split_panels.h), then max(c, 0) where `relu`: for a processor
// of which simd::HasAmxBf16() is true. Each thread has a piece of c for itself, and takes some
// depth at a time. Each sum has one order, whatever the number of threads.
struct SplitGemm {
  std::int64_t depth, rows, columns;
  SplitFactor left{}, right{};
  float* c = nullptr;
  bool accumulate = false;
  const float* bias = nullptr;      // [columns], or none
  const float* residual = nullptr;  // [rows, columns], or none
  bool relu = false;

  // Depends on the sizes and ThreadCount(), which must not grow between this call and the run.
  std::int64_t ScratchBytes() const;
  void Run(void* scratch) const;
};

}  // namespace frugal::onednn
