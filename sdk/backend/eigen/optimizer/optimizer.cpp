#include "sdk/backend/eigen/optimizer/optimizer.h"

#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/optimizer/narrow_optimizer.h"
#include "sdk/backend/eigen/optimizer/state_codec.h"

namespace frugal {
namespace eigen {
namespace {

template <class T>
struct SgdFactors {
  explicit SgdFactors(const SgdArguments& a)
      : rate(static_cast<T>(a.learning_rate)),
        decay(static_cast<T>(a.weight_decay)),
        scale(static_cast<T>(a.gradient_scale)),
        keep(static_cast<T>(a.first_step ? 0 : a.momentum)),
        take(static_cast<T>(a.first_step ? 1 : 1 - a.dampening)),
        nesterov(static_cast<T>(a.momentum)) {}

  T rate;
  T decay;
  T scale;
  T keep;      // of the momentum buffer
  T take;      // of the gradient into the momentum buffer
  T nesterov;  // of the new buffer, beside the gradient
};

template <class T>
void PlainSgd(const SgdFactors<T>& f, const T* gradient, T* parameter, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    parameter[i] -= f.rate * (f.scale * gradient[i] + f.decay * parameter[i]);
  }
}

// On the first step the buffer is written and not read, whatever it held.
template <bool kFirst, bool kNesterov, class T>
void MomentumSgd(const SgdFactors<T>& f, const T* gradient, T* buffer, T* parameter,
                 std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = f.scale * gradient[i] + f.decay * parameter[i];
    T momentum = f.take * g;
    if constexpr (!kFirst) momentum += f.keep * buffer[i];
    buffer[i] = momentum;
    parameter[i] -= f.rate * (kNesterov ? g + f.nesterov * momentum : momentum);
  }
}

template <class T>
auto MomentumKernel(const SgdArguments& a) {
  if (a.first_step) return a.nesterov ? MomentumSgd<true, true, T> : MomentumSgd<true, false, T>;
  return a.nesterov ? MomentumSgd<false, true, T> : MomentumSgd<false, false, T>;
}

template <class T>
struct AdamFactors {
  explicit AdamFactors(const AdamArguments& a)
      : scale(static_cast<T>(a.gradient_scale)),
        added_decay(static_cast<T>(a.decoupled ? 0 : a.weight_decay)),
        shrink(static_cast<T>(a.decoupled ? 1 - a.learning_rate * a.weight_decay : 1)),
        beta1(static_cast<T>(a.beta1)),
        rest1(static_cast<T>(1 - a.beta1)),
        beta2(static_cast<T>(a.beta2)),
        rest2(static_cast<T>(1 - a.beta2)),
        epsilon(static_cast<T>(a.epsilon)) {
    const auto step = static_cast<double>(a.step);
    step_size = static_cast<T>(a.learning_rate / (1 - std::pow(a.beta1, step)));
    root_correction = static_cast<T>(1 / std::sqrt(1 - std::pow(a.beta2, step)));
  }

  T scale;
  T added_decay;
  T shrink;
  T beta1;
  T rest1;
  T beta2;
  T rest2;
  T epsilon;
  T step_size;
  T root_correction;
};

template <class T>
void AdamRange(const AdamFactors<T>& f, const T* gradient, T* first, T* second, T* parameter,
               std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = f.scale * gradient[i] + f.added_decay * parameter[i];
    const T m = f.beta1 * first[i] + f.rest1 * g;
    const T v = f.beta2 * second[i] + f.rest2 * g * g;
    first[i] = m;
    second[i] = v;
    const T denominator = std::sqrt(v) * f.root_correction + f.epsilon;
    parameter[i] = parameter[i] * f.shrink - f.step_size * m / denominator;
  }
}

template <class T>
double SumOfSquaresRange(const T* x, std::int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(x[i]);
    sum += value * value;
  }
  return sum;
}

}  // namespace
}  // namespace eigen

void EigenOptimizerKernels::Sgd(const SgdArguments& arguments, const Tensor& gradient,
                                const Tensor& momentum_buffer, const Tensor& parameter) {
  if (eigen::IsNarrow(momentum_buffer)) {
    const auto kernel = eigen::MomentumKernel<float>(arguments);
    const eigen::SgdFactors<float> factors(arguments);
    const auto update = [&](const float* g, float* buffer, float* p, std::int64_t count) {
      kernel(factors, g, buffer, p, count);
    };
    return eigen::NarrowSgd(eigen::PlainStateCodec(), arguments, gradient, momentum_buffer,
                            parameter, update);
  }
  eigen::WithFloating("sgd", parameter.dtype(), [&]<class T>() {
    const eigen::SgdFactors<T> factors(arguments);
    const auto momentum_kernel = eigen::MomentumKernel<T>(arguments);
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      const T* g = gradient.data<T>() + begin;
      T* p = parameter.data<T>() + begin;
      if (momentum_buffer) {
        momentum_kernel(factors, g, momentum_buffer.data<T>() + begin, p, end - begin);
      } else {
        eigen::PlainSgd(factors, g, p, end - begin);
      }
    });
  });
}

void EigenOptimizerKernels::Adam(const AdamArguments& arguments, const Tensor& gradient,
                                 const Tensor& first_moment, const Tensor& second_moment,
                                 const Tensor& parameter) {
  if (eigen::IsNarrow(first_moment)) {
    const eigen::AdamFactors<float> factors(arguments);
    const auto update = [&](const float* g, float* first, float* second, float* p,
                            std::int64_t count) {
      eigen::AdamRange(factors, g, first, second, p, count);
    };
    return eigen::NarrowAdam(eigen::PlainStateCodec(), arguments, gradient, first_moment,
                             second_moment, parameter, update);
  }
  eigen::WithFloating("adam", parameter.dtype(), [&]<class T>() {
    const eigen::AdamFactors<T> factors(arguments);
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::AdamRange(factors, gradient.data<T>() + begin, first_moment.data<T>() + begin,
                       second_moment.data<T>() + begin, parameter.data<T>() + begin, end - begin);
    });
  });
}

double EigenOptimizerKernels::SumOfSquares(const Tensor& x) {
  double sum = 0;
  eigen::WithFloating("sum of squares", x.dtype(), [&]<class T>() {
    sum = eigen::ParallelSum(x.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      return eigen::SumOfSquaresRange(x.data<T>() + begin, end - begin);
    });
  });
  return sum;
}

}  // namespace frugal
