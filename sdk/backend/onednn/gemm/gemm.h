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

// Writes C, or adds to it, by oneDNN's public sgemm.
void MultiplyByOneDnn(const Gemm& gemm, bool accumulate, float* c);

}  // namespace frugal::onednn
