#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/loss/loss.h"

namespace frugal {
namespace eigen {
namespace {

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

template <Regression kKind, class T>
double SumRange(const T* x, const T* target, T delta, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<double>(Loss<kKind>(x[i], target[i], delta));
  }
  return sum;
}

double OneOver(std::int64_t count) {
  return 1 / static_cast<double>(std::max<std::int64_t>(1, count));
}

// to = dloss / count * derivative(x, target), element by element
template <class T, class Derivative>
void WriteGradient(const Tensor& dloss, const Tensor& x, const Tensor& target, const Tensor& to,
                   const Derivative& derivative) {
  const auto upstream = static_cast<double>(dloss.data<T>()[0]);
  const auto scale = static_cast<T>(upstream * OneOver(x.size()));
  const T* xs = x.data<T>();
  const T* targets = target.data<T>();
  T* out = to.data<T>();
  ParallelFor(x.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = scale * derivative(xs[i], targets[i]);
  });
}

}  // namespace
}  // namespace eigen

void EigenLossKernels::RegressionForward(Regression kind, double delta, const Tensor& x,
                                         const Tensor& target, const Tensor& loss) {
  eigen::WithFloating("regression loss", x.dtype(), [&]<class T>() {
    eigen::WithRegression(kind, [&]<Regression kKind>() {
      const auto add_range = [&](std::int64_t begin, std::int64_t end) {
        return eigen::SumRange<kKind>(x.data<T>() + begin, target.data<T>() + begin,
                                      static_cast<T>(delta), end - begin);
      };
      const double sum = eigen::ParallelSum(x.size(), eigen::kChunk, add_range);
      loss.data<T>()[0] = static_cast<T>(sum * eigen::OneOver(x.size()));
    });
  });
}

void EigenLossKernels::RegressionBackward(Regression kind, double delta, const Tensor& dloss,
                                          const Tensor& x, const Tensor& target, const Tensor& dx) {
  eigen::WithFloating("regression loss backward", x.dtype(), [&]<class T>() {
    eigen::WithRegression(kind, [&]<Regression kKind>() {
      eigen::WriteGradient<T>(dloss, x, target, dx, [d = static_cast<T>(delta)](T value, T wanted) {
        return eigen::Derivative<kKind>(value, wanted, d);
      });
    });
  });
}

void EigenLossKernels::RegressionTargetBackward(Regression kind, double delta, const Tensor& dloss,
                                                const Tensor& x, const Tensor& target,
                                                const Tensor& dtarget) {
  eigen::WithFloating("regression loss target backward", x.dtype(), [&]<class T>() {
    eigen::WithRegression(kind, [&]<Regression kKind>() {
      eigen::WriteGradient<T>(dloss, x, target, dtarget,
                              [d = static_cast<T>(delta)](T value, T wanted) {
                                return eigen::TargetDerivative<kKind>(value, wanted, d);
                              });
    });
  });
}

}  // namespace frugal
