#pragma once

#include "sdk/core/bfloat16.h"
#include "sdk/tensor/tensor.h"

namespace frugal::onednn {

// The element types of the vectorized loops and of oneDNN's primitives; others, and empty tensors,
// go to the reference.
inline bool IsFast(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16; }
inline bool IsFast(const Tensor& x) { return IsFast(x.dtype()) && x.size() > 0; }

// Calls body.operator()<float>() or <BFloat16>().
template <class Body>
decltype(auto) WithElement(DType dtype, const Body& body) {
  if (dtype == DType::kBF16) return body.template operator()<BFloat16>();
  return body.template operator()<float>();
}

// Data of an optional tensor.
template <class T>
T* DataAt(const Tensor& tensor, std::int64_t element) {
  return tensor ? tensor.data<T>() + element : nullptr;
}

}  // namespace frugal::onednn
