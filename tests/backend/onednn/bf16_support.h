#pragma once

#include "sdk/backend/common/cpu_features.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"
#include "tests/skip.h"

// Kernels on bf16 tensors against the reference in f64 on the same numbers.
namespace frugal::testing {

// A random tensor in bf16, and exactly the same numbers in f64.
struct Rounded {
  Tensor bf16, f64;
  Rounded() = default;
  Rounded(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1)
      : bf16(RandomTensor(shape, seed, DType::kBF16, low, high)),
        f64(MakeTensor(shape, Values(bf16), DType::kF64)) {}
  explicit operator bool() const { return static_cast<bool>(bf16); }
};

// Holds the same numbers in f32, as parameters and statistics are, and in f64.
struct Exact {
  Tensor f32, f64;
  Exact() = default;
  Exact(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1)
      : f32(RandomTensor(shape, seed, DType::kF32, low, high)),
        f64(MakeTensor(shape, Values(f32), DType::kF64)) {}
};

// Relative norm of the difference that rounding each result once to 8 bits explains.
inline constexpr double kBf16 = 4e-3;
// Bounds that norm for results in f32 that add up products of bf16 numbers.
inline constexpr double kBf16Sums = 2e-5;

}  // namespace frugal::testing

// Skips a test, tagged [needs-tiles], where the processor has no matrix tiles.
#define FRUGAL_NEEDS_TILES() \
  FRUGAL_SKIP_UNLESS(frugal::simd::HasAmxBf16(), "this processor has no matrix tiles")

// Skips a test, tagged [needs-bf16], where the processor has no bf16 instructions that pay.
#define FRUGAL_NEEDS_BF16()                               \
  FRUGAL_SKIP_UNLESS(frugal::simd::HasFastBf16Products(), \
                     "this processor has no bf16 instructions that outrun f32's")
