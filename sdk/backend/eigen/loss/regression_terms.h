#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sdk/backend/loss_kernels.h"

// Distances of one number x from its target, and their derivatives.
namespace frugal::eigen {

template <Regression kKind, class T>
T Loss(T x, T target, [[maybe_unused]] T delta) {
  using enum Regression;
  if constexpr (kKind == kBceWithLogits) {
    return std::max(x, T{0}) - x * target + std::log1p(std::exp(-std::abs(x)));
  }
  const T difference = x - target;
  if constexpr (kKind == kMse) return difference * difference;
  const T distance = std::abs(difference);
  if constexpr (kKind == kHuber) {
    return distance <= delta ? T{0.5} * distance * distance : delta * (distance - T{0.5} * delta);
  }
  return distance;
}

template <Regression kKind, class T>
T Derivative(T x, T target, [[maybe_unused]] T delta) {
  using enum Regression;
  if constexpr (kKind == kBceWithLogits) return T{1} / (T{1} + std::exp(-x)) - target;
  const T difference = x - target;
  if constexpr (kKind == kMse) return T{2} * difference;
  if constexpr (kKind == kHuber) {
    return difference > delta ? delta : (difference < -delta ? -delta : difference);
  }
  return difference > T{0} ? T{1} : (difference < T{0} ? T{-1} : difference);  // keeps NaN
}

template <Regression kKind, class T>
T TargetDerivative(T x, T target, T delta) {
  if constexpr (kKind == Regression::kBceWithLogits) return -x;
  return Derivative<kKind>(target, x, delta);  // the distance is symmetric
}

// Calls body.operator()<kind>().
template <class Body>
void WithRegression(Regression kind, const Body& body) {
  using enum Regression;
  switch (kind) {
    case kMse:
      return body.template operator()<kMse>();
    case kL1:
      return body.template operator()<kL1>();
    case kHuber:
      return body.template operator()<kHuber>();
    case kBceWithLogits:
      return body.template operator()<kBceWithLogits>();
  }
}

}  // namespace frugal::eigen
