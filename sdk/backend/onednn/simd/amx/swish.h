#pragma once

#include <cstdint>

#include "sdk/core/bfloat16.h"

// Activations x sigmoid(u(x)) of bf16 numbers, for a processor of which HasAvx512Bf16() is true:
// by bf16 instructions, as exact as short_activation_bodies.h, slopes for |x| below 1e30
// (bench_kernels prints their rates).
namespace frugal::simd {

// u(x) = linear x + cubic x^3
struct Swish {
  float linear = 1, cubic = 0;
};

// In place is allowed.
void SwishForward(const Swish& f, const BFloat16* x, BFloat16* y, std::int64_t n);
// dx = dy f'(x)
void SwishBackward(const Swish& f, const BFloat16* dy, const BFloat16* x, BFloat16* dx,
                   std::int64_t n);

}  // namespace frugal::simd
