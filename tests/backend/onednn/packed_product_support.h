#pragma once

#include <initializer_list>
#include <vector>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"
#include "tests/backend/onednn/bf16_support.h"

// Kernels of ours that read a weight's packed copy, each as an operation of its own.
namespace frugal::testing {

struct ProductSizes {
  std::int64_t rows, inputs, outputs;

  onednn::PackedLinearDescription Describe(onednn::Pass pass) const {
    onednn::PackedLinearDescription d;
    d.rows = rows;
    d.inputs = inputs;
    d.outputs = outputs;
    d.pass = pass;
    return d;
  }
};

inline Tensor Packed(Backend& backend, const Tensor& weight) {
  const Tensor packed = Full({backend.product().PackedWeightBytes(weight)}, 0, DType::kU8);
  backend.product().PackWeight(weight, packed);
  return packed;
}

// run(result, scratch) of a bf16 result between guards, on scratch full of NaN.
template <class Run>
Tensor BetweenGuards(const Shape& shape, std::int64_t scratch_bytes, const Run& run) {
  constexpr std::int64_t kGuard = 32;
  const std::int64_t size = shape.ElementCount();
  const Tensor memory = Full({size + 2 * kGuard}, 0.5, DType::kBF16);
  const Tensor result = memory.Narrow(kGuard, size);
  const Scratch scratch(scratch_bytes);
  run(result.raw(), scratch.get());
  CHECK(scratch.GuardIsIntact());
  for (std::int64_t i = 0; i < kGuard; ++i) {
    CHECK(static_cast<float>(memory.data<BFloat16>()[i]) == 0.5f);
    CHECK(static_cast<float>(memory.data<BFloat16>()[kGuard + size + i]) == 0.5f);
  }
  return Clone(result).Reshape(shape);
}

}  // namespace frugal::testing
