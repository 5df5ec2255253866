#pragma once

#include <cstdint>

#include "sdk/core/bfloat16.h"

// The ground of all loops on matrix tiles: their configuration, and what they take.
namespace frugal::simd {

inline constexpr std::int64_t kAmxBlock = 32;

// Configures the tiles of this thread, and what is below the smallest normal number counts as zero,
// as it does in the products.
class AmxSession {
 public:
  AmxSession();
  ~AmxSession();
  AmxSession(const AmxSession&) = delete;
  AmxSession& operator=(const AmxSession&) = delete;

 private:
  unsigned int control_;
};

// c = or += a b; a [rows, depth], b pairs of rows [depth / 2, columns], c [rows, columns]
struct AmxProduct {
  const BFloat16* a;
  std::int64_t a_row;
  const BFloat16* b;
  std::int64_t b_row;  // pairs
  float* c;
  std::int64_t c_row;
  std::int64_t rows, columns, depth;
  bool accumulate;
};
// Some rows of `width` elements.
struct AmxRows {
  const BFloat16* data;
  std::int64_t row, count, width;
};

}  // namespace frugal::simd
