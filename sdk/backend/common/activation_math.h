#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sdk/backend/activation.h"

// The activations and their derivatives for one element, in forms that neither overflow nor lose
// their digits for large |x|.
namespace frugal::eigen {

template <class T>
T Sigmoid(T x) {
  return T{1} / (T{1} + std::exp(-x));
}

template <class T>
T Softplus(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
}

// Standard normal distribution function; erfc keeps the digits of its lower tail.
template <class T>
T NormalDistribution(T x) {
  return T{0.5} * std::erfc(-x * (std::numbers::sqrt2_v<T> / T{2}));
}

template <class T>
T NormalDensity(T x) {
  constexpr T kScale = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return kScale * std::exp(T{-0.5} * x * x);
}

template <class T>
inline constexpr T kGeluTanhScale = std::numbers::inv_sqrtpi_v<T>* std::numbers::sqrt2_v<T>;
template <class T>
inline constexpr T kGeluTanhCubic = static_cast<T>(0.044715);
template <class T>
inline constexpr T kQuickGeluScale = static_cast<T>(1.702);

template <class T>
T GeluTanh(T x) {
  const T inner = kGeluTanhScale<T> * (x + kGeluTanhCubic<T> * x * x * x);
  return T{0.5} * x * (T{1} + std::tanh(inner));
}

template <class T>
T GeluTanhDerivative(T x) {
  const T z = std::clamp(x, T{-30}, T{30});  // beyond, the derivative is 0 or 1 exactly
  const T t = std::tanh(kGeluTanhScale<T> * (z + kGeluTanhCubic<T> * z * z * z));
  const T inner = kGeluTanhScale<T> * (T{1} + T{3} * kGeluTanhCubic<T> * z * z);
  return T{0.5} * (T{1} + t) + T{0.5} * z * (T{1} - t * t) * inner;
}

// With n = e^x (e^x + 2): tanh(softplus(x)) = n / (n + 2), and beyond x = 20 it is 1.
template <class T>
T MishProduct(T x) {
  const T e = std::exp(std::min(x, T{20}));
  return e * (e + T{2});
}

// Beyond +-700 the second term is nothing beside the first; an infinite x times no slope would be
// no number.
template <class T>
T MishDerivative(T x) {
  const T n = MishProduct(x);
  const T slope = T{4} * (n + T{1}) / ((n + T{2}) * (n + T{2}));  // 1 - tanh^2
  return n / (n + T{2}) + std::clamp(x, T{-700}, T{700}) * slope * Sigmoid(x);
}

template <Activation kKind, class T>
T Activate(T x, [[maybe_unused]] T a) {
  using enum Activation;
  if constexpr (kKind == kRelu) return x < T{0} ? T{0} : x;  // keeps NaN
  if constexpr (kKind == kGelu) return x * NormalDistribution(x);
  if constexpr (kKind == kGeluTanh) return GeluTanh(x);
  if constexpr (kKind == kQuickGelu) return x * Sigmoid(kQuickGeluScale<T> * x);
  if constexpr (kKind == kSilu) return x * Sigmoid(x);
  if constexpr (kKind == kSigmoid) return Sigmoid(x);
  if constexpr (kKind == kTanh) return std::tanh(x);
  if constexpr (kKind == kSoftplus) return Softplus(x);
  if constexpr (kKind == kElu) return x > T{0} ? x : a * std::expm1(x);
  if constexpr (kKind == kLeakyRelu) return x > T{0} ? x : a * x;
  if constexpr (kKind == kMish) return x * (MishProduct(x) / (MishProduct(x) + T{2}));
  if constexpr (kKind == kHardswish) return x * std::clamp(x + T{3}, T{0}, T{6}) / T{6};
  if constexpr (kKind == kExp) return std::exp(x);
  return x;
}

// The derivative of kinds that need their input x.
template <Activation kKind, class T>
T DerivativeFromInput(T x) {
  using enum Activation;
  if constexpr (kKind == kGelu) return NormalDistribution(x) + x * NormalDensity(x);
  if constexpr (kKind == kGeluTanh) return GeluTanhDerivative(x);
  if constexpr (kKind == kSoftplus) return Sigmoid(x);
  if constexpr (kKind == kMish) return MishDerivative(x);
  if constexpr (kKind == kHardswish) {
    return x <= T{-3} ? T{0} : (x >= T{3} ? T{1} : (T{2} * x + T{3}) / T{6});
  }
  if constexpr (kKind == kQuickGelu || kKind == kSilu) {
    constexpr T kScale = kKind == kSilu ? T{1} : kQuickGeluScale<T>;
    const T s = Sigmoid(kScale * x);
    return s + kScale * x * s * (T{1} - s);
  }
  return T{1};
}

// The derivative from the output y, or from the input where DerivesFromOutput(kKind) is false; all
// kinds but relu.
template <Activation kKind, class T>
T Derivative(T kept, [[maybe_unused]] T a) {
  using enum Activation;
  static_assert(kKind != kRelu);
  if constexpr (kKind == kSigmoid) return kept * (T{1} - kept);
  if constexpr (kKind == kTanh) return T{1} - kept * kept;
  if constexpr (kKind == kElu) return kept > T{0} ? T{1} : kept + a;
  if constexpr (kKind == kLeakyRelu) return kept > T{0} ? T{1} : a;
  if constexpr (kKind == kExp) return kept;
  return DerivativeFromInput<kKind>(kept);
}

}  // namespace frugal::eigen
