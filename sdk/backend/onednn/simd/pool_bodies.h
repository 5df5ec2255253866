#pragma once

#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::simd {
namespace {

inline constexpr std::int64_t kChannelBlock = 64;

// Of equal values the first counts; what is no number counts as the largest.
inline bool IsLarger(float value, float than) { return value > than || value != value; }

// body(c) for every channel. Bytes beside floats make compilers take as many channels at a time as
// bytes fill a register, and the rest one by one: 4 times slower at 16 channels, but 1.5 times
// faster at 32.
template <class Body>
void ForChannels(std::int64_t channels, const Body& body) {
  if (channels % 32 == 0) {
#pragma omp simd
    for (std::int64_t c = 0; c < channels; ++c) body(c);
  } else {
#pragma omp simd simdlen(16)
    for (std::int64_t c = 0; c < channels; ++c) body(c);
  }
}

// The common 2 x 2 window, in registers.
template <bool kNumbers>
void LargestOfFour(const float* x, const std::int64_t* offsets, std::int64_t channels, float* y,
                   std::uint8_t* numbers) {
  const float *x0 = x + offsets[0], *x1 = x + offsets[1];
  const float *x2 = x + offsets[2], *x3 = x + offsets[3];
  ForChannels(channels, [=](std::int64_t c) {
    float best = x0[c];
    std::int32_t number = 0;
    number = IsLarger(x1[c], best) ? 1 : number;
    best = IsLarger(x1[c], best) ? x1[c] : best;
    number = IsLarger(x2[c], best) ? 2 : number;
    best = IsLarger(x2[c], best) ? x2[c] : best;
    number = IsLarger(x3[c], best) ? 3 : number;
    best = IsLarger(x3[c], best) ? x3[c] : best;
    y[c] = best;
    if constexpr (kNumbers) numbers[c] = static_cast<std::uint8_t>(number);
  });
}

inline void LargestOfMany(const float* x, const std::int64_t* offsets, std::int64_t count,
                          std::int64_t channels, float* y, std::uint8_t* numbers) {
  for (std::int64_t first = 0; first < channels; first += kChannelBlock) {
    const std::int64_t width = channels - first < kChannelBlock ? channels - first : kChannelBlock;
    float best[kChannelBlock];
    std::int32_t number[kChannelBlock];
    for (std::int64_t c = 0; c < width; ++c) {
      best[c] = count > 0 ? x[offsets[0] + first + c] : -__builtin_huge_valf();
      number[c] = count > 0 ? 0 : 255;
    }
    for (std::int64_t k = 1; k < count; ++k) {
      const float* from = x + offsets[k] + first;
#pragma omp simd
      for (std::int64_t c = 0; c < width; ++c) {
        const bool larger = IsLarger(from[c], best[c]);
        best[c] = larger ? from[c] : best[c];
        number[c] = larger ? static_cast<std::int32_t>(k) : number[c];
      }
    }
    for (std::int64_t c = 0; c < width; ++c) y[first + c] = best[c];
    if (numbers == nullptr) continue;
    for (std::int64_t c = 0; c < width; ++c) {
      numbers[first + c] = static_cast<std::uint8_t>(number[c]);
    }
  }
}

inline void LargestOf(const float* x, const std::int64_t* offsets, std::int64_t count,
                      std::int64_t channels, float* y, std::uint8_t* numbers) {
  if (count != 4) return LargestOfMany(x, offsets, count, channels, y, numbers);
  if (numbers == nullptr) return LargestOfFour<false>(x, offsets, channels, y, nullptr);
  LargestOfFour<true>(x, offsets, channels, y, numbers);
}

inline void LargestGradient(const float* dy, const std::uint8_t* numbers,
                            const std::int64_t* offsets, std::int64_t count, std::int64_t channels,
                            float* dx) {
  for (std::int64_t k = 0; k < count; ++k) {
    float* to = dx + offsets[k];
    const auto number = static_cast<std::int32_t>(k);
    ForChannels(channels, [=](std::int64_t c) {
      const std::int32_t winner = numbers[c];
      to[c] += winner == number ? dy[c] : 0.0f;
    });
  }
}

inline constexpr PoolLoops kPoolLoops{LargestOf, LargestGradient};

}  // namespace
}  // namespace frugal::simd
