#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/loss/loss.h"
#include "sdk/backend/eigen/loss/regression_terms.h"

namespace frugal {
namespace eigen {
namespace {

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
