#pragma once

#include <cstdint>

namespace frugal::eigen {

// A row-major matrix whose rows start `stride` elements apart.
template <class T>
struct Matrix {
  T* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;
};

// c = or += a b, on the calling thread. Instantiated for float and double.
template <class T>
void Multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate);
// c = or += a b^T
template <class T>
void MultiplyTransposedRight(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate);
// c = or += a^T b
template <class T>
void MultiplyTransposedLeft(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate);

}  // namespace frugal::eigen
