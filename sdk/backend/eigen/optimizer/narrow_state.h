#pragma once

#include "sdk/backend/state_codec.h"
#include "sdk/tensor/tensor.h"

namespace frugal::eigen {

// One tensor of optimizer state of `elements` elements, kBF16, or kU8 as state_codec.h lays it out.
struct NarrowState {
  const StateCodec& codec;
  const Tensor& tensor;
  StateSign sign;
  std::uint64_t key;  // of the noise; another for each tensor and step
  std::int64_t elements;

  // Elements at ... at + n - 1, of one block.
  void Load(std::int64_t at, std::int64_t n, float* x) const;
  void Store(std::int64_t at, std::int64_t n, const float* x) const;

 private:
  float* Scale(std::int64_t at) const;
};

// Not the type of the parameter: to be widened before an update and narrowed after it.
inline bool IsNarrow(const Tensor& state) {
  return state && (state.dtype() == DType::kBF16 || state.dtype() == DType::kU8);
}

}  // namespace frugal::eigen
