#pragma once

#include "sdk/tensor/tensor.h"

namespace frugal {

// The number in a tensor [1] of kF32 or kF64; inside a launch only.
inline double ScalarIn(const Tensor& scalar) {
  return scalar.dtype() == DType::kF64 ? *scalar.data<double>() : *scalar.data<float>();
}

}  // namespace frugal
