#include "sdk/backend/eigen/matmul/gemm.h"

#include <Eigen/Core>

namespace frugal::eigen {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
auto View(Matrix<const T> m) {
  return Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>(m.data, m.rows, m.columns,
                                                                Eigen::OuterStride<>(m.stride));
}

template <class T>
auto View(Matrix<T> m) {
  return Eigen::Map<RowMajor<T>, 0, Eigen::OuterStride<>>(m.data, m.rows, m.columns,
                                                          Eigen::OuterStride<>(m.stride));
}

template <class T, class Product>
void Store(Matrix<T> c, const Product& product, bool accumulate) {
  if (accumulate) {
    View(c).noalias() += product;
  } else {
    View(c).noalias() = product;
  }
}

}  // namespace

template <class T>
void Multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate) {
  Store(c, View(a) * View(b), accumulate);
}

template <class T>
void MultiplyTransposedRight(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate) {
  Store(c, View(a) * View(b).transpose(), accumulate);
}

template <class T>
void MultiplyTransposedLeft(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate) {
  Store(c, View(a).transpose() * View(b), accumulate);
}

template void Multiply(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void Multiply(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);
template void MultiplyTransposedRight(Matrix<const float>, Matrix<const float>, Matrix<float>,
                                      bool);
template void MultiplyTransposedRight(Matrix<const double>, Matrix<const double>, Matrix<double>,
                                      bool);
template void MultiplyTransposedLeft(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void MultiplyTransposedLeft(Matrix<const double>, Matrix<const double>, Matrix<double>,
                                     bool);

}  // namespace frugal::eigen
