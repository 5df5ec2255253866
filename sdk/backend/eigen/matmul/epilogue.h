#pragma once

#include "sdk/backend/activation.h"
#include "sdk/backend/common/activation_range.h"
#include "sdk/backend/eigen/matmul/gemm.h"

namespace frugal::eigen {

// y = bias + residual, either of which may be null: what a product is then added to.
template <class T>
void StartWithBias(const T* bias, const T* residual, Matrix<T> y) {
  for (std::int64_t row = 0; row < y.rows; ++row) {
    T* out = y.data + row * y.stride;
    const T* added = residual == nullptr ? nullptr : residual + row * y.stride;
    for (std::int64_t j = 0; j < y.columns; ++j) {
      const T start = bias == nullptr ? T{0} : bias[j];
      out[j] = added == nullptr ? start : start + added[j];
    }
  }
}

template <class T>
void Activate(const LinearEpilogue& epilogue, Matrix<T> y) {
  if (epilogue.activation == Activation::kIdentity) return;
  for (std::int64_t row = 0; row < y.rows; ++row) {
    T* out = y.data + row * y.stride;
    ActivateRange(epilogue.activation, epilogue.parameter, out, out, y.columns);
  }
}

}  // namespace frugal::eigen
