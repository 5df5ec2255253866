#pragma once

#include <cstdint>

namespace frugal::onednn {

// A product of f32 matrices in row order, C [m, n] = op(A) op(B), op(A) [m, k], op(B) [k, n], where
// 'T' transposes and 'N' does not. Strides are between rows.
struct Gemm {
  char transpose_a, transpose_b;
  std::int64_t m, n, k;
  const float* a = nullptr;
  std::int64_t stride_a = 0;
  const float* b = nullptr;
  std::int64_t stride_b = 0;
};

// Holds where a product of f32 matrices goes: c [m, n] = op(A) op(B) + addend + bias.
struct GemmTarget {
  float* c;
  const float* addend = nullptr;  // [m, n], or c itself
  const float* bias = nullptr;    // [n]
};

// Writes C, whose rows lie `stride_c` apart, or adds to it, by one call of oneDNN's public sgemm.
// Throws MemoryError where sgemm finds no memory to copy factors into.
void MultiplyByOneDnn(const Gemm& gemm, bool accumulate, float* c, std::int64_t stride_c);

}  // namespace frugal::onednn
