#pragma once

#include <string_view>

#include "sdk/tensor/tensor.h"

namespace frugal::eigen {

// UsageError: `where` computes in f32 and f64 only.
[[noreturn]] void ThrowUnsupported(std::string_view where, DType dtype);

// Calls body.operator()<float>() or <double>().
template <class Body>
void WithFloating(std::string_view where, DType dtype, const Body& body) {
  if (dtype == DType::kF32) return body.template operator()<float>();
  if (dtype == DType::kF64) return body.template operator()<double>();
  ThrowUnsupported(where, dtype);
}

// Data of an optional tensor.
template <class T>
T* DataOrNull(const Tensor& tensor) {
  return tensor ? tensor.data<T>() : nullptr;
}

}  // namespace frugal::eigen
