#pragma once

#include <cstdint>

#include "sdk/backend/onednn/simd/vector/element.h"

namespace frugal::simd {
namespace {

inline constexpr std::int64_t kBlocksTogether = 64;

// Philox4x32-10 (Salmon et al., SC'11) of sdk/core/random.h for adjacent counters: word j of
// counter first + b is written to words[4 b + j].
inline void RandomBlocks(std::uint64_t key, std::uint64_t first, std::uint32_t* words) {
#pragma omp simd
  for (std::int64_t b = 0; b < kBlocksTogether; ++b) {
    const std::uint64_t counter = first + static_cast<std::uint64_t>(b);
    std::uint32_t c0 = static_cast<std::uint32_t>(counter);
    std::uint32_t c1 = static_cast<std::uint32_t>(counter >> 32);
    std::uint32_t c2 = 0, c3 = 0;
    std::uint32_t k0 = static_cast<std::uint32_t>(key);
    std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
      const std::uint32_t next0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      const std::uint32_t next2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<std::uint32_t>(p1);
      c3 = static_cast<std::uint32_t>(p0);
      c0 = next0;
      c2 = next2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    words[4 * b] = c0;
    words[4 * b + 1] = c1;
    words[4 * b + 2] = c2;
    words[4 * b + 3] = c3;
  }
}

template <class T>
void Dropout(const T* x, std::uint64_t key, std::uint64_t first_block, std::uint32_t threshold,
             float scale, T* y, std::int64_t n) {
  constexpr std::int64_t kWords = 4 * kBlocksTogether;
  std::uint32_t words[kWords];
  for (std::int64_t at = 0; at < n; at += kWords) {
    RandomBlocks(key, first_block + static_cast<std::uint64_t>(at / 4), words);
    const std::int64_t count = n - at < kWords ? n - at : kWords;
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      Put(y[at + i], (words[i] >> 8) >= threshold ? Get(x[at + i]) * scale : 0.0f);
    }
  }
}

}  // namespace
}  // namespace frugal::simd
