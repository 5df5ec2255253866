#pragma once

#include <cstdint>
#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// A product of f32 matrices in row order, C [m, n] = op(A) op(B), op(A) [m, k], op(B) [k, n], where
// 'T' transposes and 'N' does not. Strides are between rows.
struct Gemm {
  char transpose_a, transpose_b;
  std::int64_t m, n, k;
  const float* a;
  std::int64_t stride_a;
  const float* b;
  std::int64_t stride_b;
};

// Writes C, or adds to it, by oneDNN's public sgemm.
void Multiply(const Gemm& gemm, bool accumulate, float* c);

// Does the same for a right factor that lies [k, n] and that PaddingPays for (no_copy_gemm.h), by
// way of copies of some of its rows that lie further apart, so that these stay in the cache.
void MultiplyPadded(const Gemm& gemm, bool accumulate, float* c, void* scratch);
std::int64_t PaddedScratch(std::int64_t depth, std::int64_t columns);

// Makes the forward product with a weight [inputs, outputs] of that kind.
std::unique_ptr<Operation> MakePaddedForward(const LinearDescription& d);

}  // namespace frugal::onednn
