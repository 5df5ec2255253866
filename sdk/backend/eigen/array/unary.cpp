#include <algorithm>
#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/array/array.h"

namespace frugal {
namespace eigen {
namespace {

// x^p. A square is a product, which is what it mostly is asked for.
template <class T>
T Power(T x, T exponent) {
  return exponent == T{2} ? x * x : std::pow(x, exponent);
}

// NaN stays NaN, also where x is between bounds that are none.
template <class T>
T Clamped(T x, T low, T high) {
  if (x < low) return low;
  return x > high ? high : x;
}

template <class T>
T SignOf(T x) {
  return x > T{0} ? T{1} : (x < T{0} ? T{-1} : x);  // 0 and NaN as they are
}

// Calls body(function of one element) for the kind.
template <class T, class Body>
void WithForward(const UnaryFunction& f, const Body& body) {
  const auto a = static_cast<T>(f.a);
  const auto b = static_cast<T>(f.b);
  switch (f.kind) {
    case UnaryKind::kLog:
      return body([](T x) { return std::log(x); });
    case UnaryKind::kSqrt:
      return body([](T x) { return std::sqrt(x); });
    case UnaryKind::kAbs:
      return body([](T x) { return std::abs(x); });
    case UnaryKind::kPow:
      return body([a](T x) { return Power(x, a); });
    case UnaryKind::kClamp:
      return body([a, b](T x) { return Clamped(x, a, b); });
    case UnaryKind::kShift:
      return body([a](T x) { return x + a; });
  }
}

// Calls body(gradient of dy and what was kept) for the kind.
template <class T, class Body>
void WithBackward(const UnaryFunction& f, const Body& body) {
  const auto a = static_cast<T>(f.a);
  const auto b = static_cast<T>(f.b);
  switch (f.kind) {
    case UnaryKind::kLog:
      return body([](T dy, T x) { return dy / x; });
    case UnaryKind::kSqrt:
      return body([](T dy, T y) { return dy / (T{2} * y); });
    case UnaryKind::kAbs:
      return body([](T dy, T x) { return dy * SignOf(x); });
    case UnaryKind::kPow:
      if (a == T{0}) return body([](T, T) { return T{0}; });
      if (a == T{2}) return body([](T dy, T x) { return dy * (T{2} * x); });
      return body([a](T dy, T x) { return dy * (a * std::pow(x, a - T{1})); });
    case UnaryKind::kClamp:
      return body([a, b](T dy, T x) { return x >= a && x <= b ? dy : T{0}; });
    case UnaryKind::kShift:
      return body([](T dy, T) { return dy; });
  }
}

}  // namespace
}  // namespace eigen

void EigenArrayKernels::UnaryForward(const UnaryFunction& f, const Tensor& x, const Tensor& y) {
  eigen::WithFloating("a function of elements", y.dtype(), [&]<class T>() {
    const T* from = x.data<T>();
    T* to = y.data<T>();
    eigen::WithForward<T>(f, [&](const auto& function) {
      eigen::ParallelFor(y.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = function(from[i]);
      });
    });
  });
}

void EigenArrayKernels::UnaryBackward(const UnaryFunction& f, const Tensor& dy, const Tensor& kept,
                                      const Tensor& dx) {
  eigen::WithFloating("a function of elements, backward", dx.dtype(), [&]<class T>() {
    const T* upstream = dy.data<T>();
    const T* of = kept.data<T>();
    T* to = dx.data<T>();
    eigen::WithBackward<T>(f, [&](const auto& gradient) {
      eigen::ParallelFor(dx.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = gradient(upstream[i], of[i]);
      });
    });
  });
}

}  // namespace frugal
