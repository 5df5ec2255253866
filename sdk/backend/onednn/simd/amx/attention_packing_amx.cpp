#include <algorithm>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"

namespace frugal::simd {
namespace {

// Returns the pairs of rows r and r + 1 at columns c to c + 31.
inline TwoPairs PairsAt(const AmxRows& from, std::int64_t r, std::int64_t c) {
  const BFloat16* const even = from.data + r * from.row + c;
  return Paired(LoadPairs(even), LoadPairs(even + from.row));
}

}  // namespace

void CopyPadded(const AmxRows& from, std::int64_t padded_count, std::int64_t padded_width,
                BFloat16* to) {
  for (std::int64_t r = 0; r < from.count; ++r, to += padded_width) {
    const BFloat16* const row = from.data + r * from.row;
    for (std::int64_t c = 0; c < padded_width; c += 32) {
      const __mmask32 inside = c < from.width ? FirstOf32(from.width - c) : 0;
      StorePairs(to + c, _mm512_maskz_loadu_epi16(inside, row + c));
    }
  }
  std::fill_n(to, (padded_count - from.count) * padded_width, BFloat16());
}

void PairColumns(const AmxRows& from, BFloat16* to) {
  for (std::int64_t r = 0; r < from.count; r += 16) {
    for (std::int64_t c = 0; c < from.width; c += 32) {
      __m512i square[16];
      for (int i = 0; i < 16; ++i) square[i] = LoadPairs(from.data + (r + i) * from.row + c);
      TransposeWords(square);
      for (int i = 0; i < 16; ++i) StorePairs(to + 2 * ((c / 2 + i) * from.count + r), square[i]);
    }
  }
}

void PairRows(const AmxRows& from, BFloat16* to) {
  for (std::int64_t r = 0; r < from.count; r += 2, to += 2 * from.width) {
    for (std::int64_t c = 0; c < from.width; c += 32) {
      const TwoPairs pairs = PairsAt(from, r, c);
      StorePairs(to + 2 * c, pairs.low);
      StorePairs(to + 2 * c + 32, pairs.high);
    }
  }
}

void TransposeMatrix(const AmxRows& from, BFloat16* to, std::int64_t to_row) {
  for (std::int64_t r = 0; r < from.count; r += 32) {
    for (std::int64_t c = 0; c < from.width; c += 32) {
      __m512i low[16], high[16];
      for (int i = 0; i < 16; ++i) {
        const TwoPairs pairs = PairsAt(from, r + 2 * i, c);
        low[i] = pairs.low;
        high[i] = pairs.high;
      }
      TransposeWords(low);
      TransposeWords(high);
      for (int i = 0; i < 16; ++i) {
        StorePairs(to + (c + i) * to_row + r, low[i]);
        StorePairs(to + (c + 16 + i) * to_row + r, high[i]);
      }
    }
  }
}

}  // namespace frugal::simd
