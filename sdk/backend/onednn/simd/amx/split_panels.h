#pragma once

#include <cstdint>

#include "sdk/backend/onednn/simd/amx/panel_product.h"

// Panels (panel_product.h) of f32 matrices, for products as the sum of three of bf16 (Henry, Tang,
// Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
// computations", arXiv:1904.06376, section 3): a number is its value rounded to bf16 and, as
// another bf16, what that leaves; the product of what both leave is left out. A panel has three
// times the depth: of the left factor high, high and low parts, of the right one high, low and
// high ones. For a processor of which HasAmxBf16() is true.
namespace frugal::simd {

// A factor's part: rows of the depth, [depth, width], or rows of it, [width, depth].
struct SplitRows {
  const float* data;
  std::int64_t row;  // elements from one row to the next
  std::int64_t depth, width;
  bool depth_in_rows;
};

// How deep the panels of so much depth are.
constexpr std::int64_t SplitDepth(std::int64_t depth) { return 3 * Whole(depth); }

// All panels of a part, 32 of its width each, one behind the other.
void PackSplitLeftPanels(const SplitRows& from, BFloat16* to);
void PackSplitRightPanels(const SplitRows& from, BFloat16* to);

}  // namespace frugal::simd
