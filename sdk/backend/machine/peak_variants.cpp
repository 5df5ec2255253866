#include <immintrin.h>

#include "sdk/backend/machine/peak_loops.h"
#include "sdk/backend/onednn/simd/vector/variant.h"
#include "sdk/backend/onednn/simd/vector/vector.h"

namespace frugal {
namespace {

using simd::kLanes;
using simd::Load;
using simd::Splat;
using simd::Store;
using simd::Vector;

// An addition that waits for its product takes 4 cycles, and two may begin in each, or 8 where
// there is no instruction for both. Two registers hold what is multiplied with and added.
constexpr int kChains = kLanes == 16 ? 24 : 12;
constexpr int kUnrolled = 4;  // vectors in each step through memory

// Compilers cannot know what these are.
volatile float factor_and_addend = 0.5F;
volatile std::uint64_t odd_factor = 3;

float MultiplyAndAdd(std::int64_t rounds) {
  const Vector half = Splat(factor_and_addend);
  Vector sums[kChains];
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) sums[i] = Splat(static_cast<float>(i)) * half;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < kChains; ++i) sums[i] = sums[i] * half + half;
  }
  Vector all = {};
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) all += sums[i];
  return all[0];
}

// Keeps compilers from making one call of memcpy of a loop, which chooses its way by the size.
void KeepLoop() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

void Copy(const float* from, float* to, std::int64_t count) {
  for (std::int64_t at = 0; at < count; at += kUnrolled * kLanes) {
    for (int i = 0; i < kUnrolled; ++i) Store(to + at + i * kLanes, Load(from + at + i * kLanes));
    KeepLoop();
  }
}

void StoreAround(float* to, Vector v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, v);
#elif defined(__AVX__)
  _mm256_stream_ps(to, v);
#else
  _mm_stream_ps(to, v);
#endif
}

void StreamingCopy(const float* from, float* to, std::int64_t count) {
  for (std::int64_t at = 0; at < count; at += kUnrolled * kLanes) {
    for (int i = 0; i < kUnrolled; ++i) {
      StoreAround(to + at + i * kLanes, Load(from + at + i * kLanes));
    }
    KeepLoop();
  }
  _mm_sfence();
}

float Read(const float* from, std::int64_t count) {
  Vector sums[kUnrolled] = {};
  for (std::int64_t at = 0; at < count; at += kUnrolled * kLanes) {
    for (int i = 0; i < kUnrolled; ++i) sums[i] += Load(from + at + i * kLanes);
  }
  Vector all = {};
  for (const Vector& sum : sums) all += sum;
  return all[0];
}

std::uint64_t MultiplyInTurn(std::int64_t products) {
  const std::uint64_t factor = odd_factor;
  std::uint64_t product = factor;
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < products; ++i) product = (product ^ factor) * factor;
  return product;
}

}  // namespace

const PeakLoops& FRUGAL_VARIANT(PeakLoops)() {
  static constexpr PeakLoops kLoops{
      {MultiplyAndAdd, 2.0 * kChains * kLanes}, Copy, StreamingCopy, Read, MultiplyInTurn};
  return kLoops;
}

}  // namespace frugal
