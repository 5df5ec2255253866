#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/vector/vector.h"

namespace frugal::simd {
namespace {

// Returns true where `value` takes the place of `than`: the first of equal values counts; what is
// no number counts as the largest.
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

// Any window, for channels that fill so many registers.
template <int kVectors>
void LargestInRegisters(const float* x, const std::int64_t* offsets, std::int64_t count, float* y,
                        std::uint8_t* numbers) {
  using Bytes __attribute__((vector_size(kLanes), aligned(1), may_alias)) = std::uint8_t;
  Vector best[kVectors];
  IntVector number[kVectors] = {};
  for (int v = 0; v < kVectors; ++v) best[v] = Load(x + offsets[0] + v * kLanes);
  for (std::int64_t k = 1; k < count; ++k) {
    const float* const from = x + offsets[k];
    const IntVector here = static_cast<std::int32_t>(k) - IntVector{};
    for (int v = 0; v < kVectors; ++v) {
      const Vector value = Load(from + v * kLanes);
      const IntVector larger = (value > best[v]) | (value != value);
      best[v] = larger ? value : best[v];
      number[v] = larger ? here : number[v];
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    Store(y + v * kLanes, best[v]);
    if (numbers == nullptr) continue;
    *reinterpret_cast<Bytes*>(numbers + v * kLanes) = __builtin_convertvector(number[v], Bytes);
  }
}

inline void LargestOfChannel(const float* x, const std::int64_t* offsets, std::int64_t count,
                             float* y, std::uint8_t* number) {
  float best = count > 0 ? x[offsets[0]] : -__builtin_huge_valf();
  std::int64_t winner = count > 0 ? 0 : 255;
  for (std::int64_t k = 1; k < count; ++k) {
    if (!IsLarger(x[offsets[k]], best)) continue;
    best = x[offsets[k]];
    winner = k;
  }
  *y = best;
  if (number != nullptr) *number = static_cast<std::uint8_t>(winner);
}

inline void LargestOfMany(const float* x, const std::int64_t* offsets, std::int64_t count,
                          std::int64_t channels, float* y, std::uint8_t* numbers) {
  constexpr int kVectors = 4;
  std::int64_t c = 0;
  const auto numbers_at = [&] { return numbers == nullptr ? nullptr : numbers + c; };
  if (count > 0) {
    for (; c + kVectors * kLanes <= channels; c += kVectors * kLanes) {
      LargestInRegisters<kVectors>(x + c, offsets, count, y + c, numbers_at());
    }
    for (; c + kLanes <= channels; c += kLanes) {
      LargestInRegisters<1>(x + c, offsets, count, y + c, numbers_at());
    }
  }
  for (; c < channels; ++c) LargestOfChannel(x + c, offsets, count, y + c, numbers_at());
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
