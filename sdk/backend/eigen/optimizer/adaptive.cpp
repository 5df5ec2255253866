#include "sdk/backend/eigen/optimizer/adaptive.h"

#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"

namespace frugal {
namespace eigen {
namespace {

// The gradient as the update sees it.
template <class T>
struct Gradient {
  template <class Arguments>
  explicit Gradient(const Arguments& a)
      : scale(static_cast<T>(a.gradient_scale)), decay(static_cast<T>(a.weight_decay)) {}

  T operator()(T gradient, T parameter) const { return scale * gradient + decay * parameter; }

  T scale;
  T decay;
};

template <class T>
struct RmsPropFactors {
  explicit RmsPropFactors(const RmsPropArguments& a)
      : gradient(a),
        rate(static_cast<T>(a.learning_rate)),
        keep(static_cast<T>(a.alpha)),
        take(static_cast<T>(1 - a.alpha)),
        epsilon(static_cast<T>(a.epsilon)),
        momentum(static_cast<T>(a.momentum)) {}

  Gradient<T> gradient;
  T rate;
  T keep;
  T take;
  T epsilon;
  T momentum;
};

// `average` is null where not centred, `buffer` where there is no momentum.
template <bool kCentred, bool kMomentum, class T>
void RmsPropRange(const RmsPropFactors<T>& f, const T* gradient, T* squares,
                  [[maybe_unused]] T* average, [[maybe_unused]] T* buffer, T* parameter,
                  std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = f.gradient(gradient[i], parameter[i]);
    squares[i] = f.keep * squares[i] + f.take * g * g;
    T variance = squares[i];
    if constexpr (kCentred) {
      average[i] += f.take * (g - average[i]);
      variance = std::max(variance - average[i] * average[i], T{0});  // rounding may cross 0
    }
    T step = g / (std::sqrt(variance) + f.epsilon);
    if constexpr (kMomentum) {
      step += f.momentum * buffer[i];
      buffer[i] = step;
    }
    parameter[i] -= f.rate * step;
  }
}

template <class T>
auto RmsPropKernel(bool centred, bool momentum) {
  if (centred) return momentum ? RmsPropRange<true, true, T> : RmsPropRange<true, false, T>;
  return momentum ? RmsPropRange<false, true, T> : RmsPropRange<false, false, T>;
}

template <class T>
T* PartOrNull(const Tensor& tensor, std::int64_t begin) {
  return tensor ? tensor.data<T>() + begin : nullptr;
}

template <class T>
void AdagradRange(const Gradient<T>& scaled, T rate, T epsilon, const T* gradient, T* squares,
                  T* parameter, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = scaled(gradient[i], parameter[i]);
    squares[i] += g * g;
    parameter[i] -= rate * g / (std::sqrt(squares[i]) + epsilon);
  }
}

template <class T>
void AdadeltaRange(const AdadeltaArguments& a, const T* gradient, T* squares, T* deltas,
                   T* parameter, std::int64_t count) {
  const Gradient<T> scaled(a);
  const auto rate = static_cast<T>(a.learning_rate);
  const auto keep = static_cast<T>(a.rho);
  const auto take = static_cast<T>(1 - a.rho);
  const auto epsilon = static_cast<T>(a.epsilon);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = scaled(gradient[i], parameter[i]);
    squares[i] = keep * squares[i] + take * g * g;
    const T delta = std::sqrt(deltas[i] + epsilon) / std::sqrt(squares[i] + epsilon) * g;
    deltas[i] = keep * deltas[i] + take * delta * delta;
    parameter[i] -= rate * delta;
  }
}

}  // namespace
}  // namespace eigen

void EigenAdaptiveKernels::RmsProp(const RmsPropArguments& arguments, const Tensor& gradient,
                                   const Tensor& square_average, const Tensor& gradient_average,
                                   const Tensor& momentum_buffer, const Tensor& parameter) {
  eigen::WithFloating("rmsprop", parameter.dtype(), [&]<class T>() {
    const eigen::RmsPropFactors<T> factors(arguments);
    const auto kernel = eigen::RmsPropKernel<T>(static_cast<bool>(gradient_average),
                                                static_cast<bool>(momentum_buffer));
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      kernel(factors, gradient.data<T>() + begin, square_average.data<T>() + begin,
             eigen::PartOrNull<T>(gradient_average, begin),
             eigen::PartOrNull<T>(momentum_buffer, begin), parameter.data<T>() + begin,
             end - begin);
    });
  });
}

void EigenAdaptiveKernels::Adagrad(const AdagradArguments& arguments, const Tensor& gradient,
                                   const Tensor& square_sum, const Tensor& parameter) {
  const double steps_before = static_cast<double>(arguments.step - 1);
  const double rate = arguments.learning_rate / (1 + steps_before * arguments.rate_decay);
  eigen::WithFloating("adagrad", parameter.dtype(), [&]<class T>() {
    const eigen::Gradient<T> scaled(arguments);
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::AdagradRange<T>(scaled, static_cast<T>(rate), static_cast<T>(arguments.epsilon),
                             gradient.data<T>() + begin, square_sum.data<T>() + begin,
                             parameter.data<T>() + begin, end - begin);
    });
  });
}

void EigenAdaptiveKernels::Adadelta(const AdadeltaArguments& arguments, const Tensor& gradient,
                                    const Tensor& square_average, const Tensor& delta_average,
                                    const Tensor& parameter) {
  eigen::WithFloating("adadelta", parameter.dtype(), [&]<class T>() {
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::AdadeltaRange<T>(arguments, gradient.data<T>() + begin,
                              square_average.data<T>() + begin, delta_average.data<T>() + begin,
                              parameter.data<T>() + begin, end - begin);
    });
  });
}

}  // namespace frugal
