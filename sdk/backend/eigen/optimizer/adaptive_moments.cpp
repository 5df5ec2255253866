#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/optimizer/adaptive.h"

// The variants of Adam: a decaying mean of the gradient and one of its size.
namespace frugal {
namespace eigen {
namespace {

// Holds what the variants share: how the gradient enters the means and what decay does.
template <class T>
struct Means {
  template <class Arguments>
  Means(const Arguments& a, bool decoupled)
      : scale(static_cast<T>(a.gradient_scale)),
        added_decay(static_cast<T>(decoupled ? 0 : a.weight_decay)),
        shrink(static_cast<T>(decoupled ? 1 - a.learning_rate * a.weight_decay : 1)),
        beta1(static_cast<T>(a.beta1)),
        rest1(static_cast<T>(1 - a.beta1)),
        beta2(static_cast<T>(a.beta2)),
        rest2(static_cast<T>(1 - a.beta2)),
        epsilon(static_cast<T>(a.epsilon)) {}

  T Gradient(T gradient, T parameter) const { return scale * gradient + added_decay * parameter; }

  T scale;
  T added_decay;
  T shrink;
  T beta1;
  T rest1;
  T beta2;
  T rest2;
  T epsilon;
};

// Holds the factors of gradient and mean in one step of NAdam.
struct NAdamRates {
  double gradient;
  double mean;
};

double MomentumAt(const NAdamArguments& a, std::int64_t step) {
  const double exponent = static_cast<double>(step) * a.momentum_decay;
  return a.beta1 * (1 - 0.5 * std::pow(0.96, exponent));
}

// PyTorch keeps the product of all momenta so far as state; here it follows from the step. Once it
// is lost beside 1, no more factors matter.
NAdamRates RatesOf(const NAdamArguments& a) {
  constexpr double kLost = 1e-18;
  double product = 1;
  for (std::int64_t step = 1; step <= a.step && product > kLost; ++step) {
    product *= MomentumAt(a, step);
  }
  const double next = MomentumAt(a, a.step + 1);
  return {a.learning_rate * (1 - MomentumAt(a, a.step)) / (1 - product),
          a.learning_rate * next / (1 - product * next)};
}

// Holds the factor of the mean in one step of RAdam, and whether the second moment divides it:
// while its variance is intractable (rho <= 5) it does not.
struct RAdamRate {
  double factor;
  bool adaptive;
};

RAdamRate RateOf(const RAdamArguments& a) {
  const auto step = static_cast<double>(a.step);
  const double correction1 = 1 - std::pow(a.beta1, step);
  const double correction2 = 1 - std::pow(a.beta2, step);
  const double rho_limit = 2 / (1 - a.beta2) - 1;
  const double rho = rho_limit - 2 * step * std::pow(a.beta2, step) / correction2;
  const double rate = a.learning_rate / correction1;
  if (rho <= 5) return {rate, false};
  const double rectified =
      (rho - 4) * (rho - 2) * rho_limit / ((rho_limit - 4) * (rho_limit - 2) * rho);
  return {rate * std::sqrt(rectified * correction2), true};
}

template <class T>
void NAdamRange(const Means<T>& f, const NAdamRates& rates, T root_correction, const T* gradient,
                T* first, T* second, T* parameter, std::int64_t count) {
  const auto gradient_rate = static_cast<T>(rates.gradient);
  const auto mean_rate = static_cast<T>(rates.mean);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = f.Gradient(gradient[i], parameter[i]);
    first[i] = f.beta1 * first[i] + f.rest1 * g;
    second[i] = f.beta2 * second[i] + f.rest2 * g * g;
    const T denominator = std::sqrt(second[i]) * root_correction + f.epsilon;
    parameter[i] =
        parameter[i] * f.shrink - (gradient_rate * g + mean_rate * first[i]) / denominator;
  }
}

template <bool kAdaptive, class T>
void RAdamRange(const Means<T>& f, T factor, const T* gradient, T* first, T* second, T* parameter,
                std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = f.Gradient(gradient[i], parameter[i]);
    first[i] = f.beta1 * first[i] + f.rest1 * g;
    second[i] = f.beta2 * second[i] + f.rest2 * g * g;
    T step = factor * first[i];
    if constexpr (kAdaptive) step /= std::sqrt(second[i]) + f.epsilon;
    parameter[i] = parameter[i] * f.shrink - step;
  }
}

template <class T>
void AdamaxRange(const Means<T>& f, T factor, const T* gradient, T* first, T* norm, T* parameter,
                 std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = f.Gradient(gradient[i], parameter[i]);
    first[i] = f.beta1 * first[i] + f.rest1 * g;
    const T size = std::abs(g) + f.epsilon;
    const T decayed = f.beta2 * norm[i];
    norm[i] = decayed > size ? decayed : size;
    parameter[i] -= factor * first[i] / norm[i];
  }
}

}  // namespace
}  // namespace eigen

void EigenAdaptiveKernels::NAdam(const NAdamArguments& arguments, const Tensor& gradient,
                                 const Tensor& first_moment, const Tensor& second_moment,
                                 const Tensor& parameter) {
  const eigen::NAdamRates rates = eigen::RatesOf(arguments);
  const double correction = 1 - std::pow(arguments.beta2, static_cast<double>(arguments.step));
  eigen::WithFloating("nadam", parameter.dtype(), [&]<class T>() {
    const eigen::Means<T> means(arguments, arguments.decoupled);
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::NAdamRange<T>(means, rates, static_cast<T>(1 / std::sqrt(correction)),
                           gradient.data<T>() + begin, first_moment.data<T>() + begin,
                           second_moment.data<T>() + begin, parameter.data<T>() + begin,
                           end - begin);
    });
  });
}

void EigenAdaptiveKernels::RAdam(const RAdamArguments& arguments, const Tensor& gradient,
                                 const Tensor& first_moment, const Tensor& second_moment,
                                 const Tensor& parameter) {
  const eigen::RAdamRate rate = eigen::RateOf(arguments);
  eigen::WithFloating("radam", parameter.dtype(), [&]<class T>() {
    const eigen::Means<T> means(arguments, arguments.decoupled);
    const auto kernel = rate.adaptive ? eigen::RAdamRange<true, T> : eigen::RAdamRange<false, T>;
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      kernel(means, static_cast<T>(rate.factor), gradient.data<T>() + begin,
             first_moment.data<T>() + begin, second_moment.data<T>() + begin,
             parameter.data<T>() + begin, end - begin);
    });
  });
}

void EigenAdaptiveKernels::Adamax(const AdamaxArguments& arguments, const Tensor& gradient,
                                  const Tensor& first_moment, const Tensor& infinity_norm,
                                  const Tensor& parameter) {
  const double correction = 1 - std::pow(arguments.beta1, static_cast<double>(arguments.step));
  eigen::WithFloating("adamax", parameter.dtype(), [&]<class T>() {
    const eigen::Means<T> means(arguments, false);
    eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::AdamaxRange<T>(means, static_cast<T>(arguments.learning_rate / correction),
                            gradient.data<T>() + begin, first_moment.data<T>() + begin,
                            infinity_norm.data<T>() + begin, parameter.data<T>() + begin,
                            end - begin);
    });
  });
}

}  // namespace frugal
