#include "sdk/backend/onednn/elementwise/optimizer.h"

#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/optimizer/narrow_optimizer.h"

namespace frugal {
namespace {

bool IsOurs(const Tensor& x) { return x.dtype() == DType::kF32; }

simd::AdamFactors FactorsOf(const AdamArguments& a) {
  const auto step = static_cast<double>(a.step);
  const double decay = a.learning_rate * a.weight_decay;
  simd::AdamFactors f{};
  f.beta1 = static_cast<float>(a.beta1);
  f.beta2 = static_cast<float>(a.beta2);
  f.taken1 = static_cast<float>(1 - a.beta1);
  f.taken2 = static_cast<float>(1 - a.beta2);
  f.epsilon = static_cast<float>(a.epsilon);
  f.gradient_scale = static_cast<float>(a.gradient_scale);
  f.added_decay = a.decoupled ? 0.0f : static_cast<float>(a.weight_decay);
  f.kept = a.decoupled ? static_cast<float>(1 - decay) : 1.0f;
  f.step_size = static_cast<float>(a.learning_rate / (1 - std::pow(a.beta1, step)));
  f.second_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(a.beta2, step)));
  return f;
}

}  // namespace

void OneDnnOptimizerKernels::Sgd(const SgdArguments& arguments, const Tensor& gradient,
                                 const Tensor& momentum_buffer, const Tensor& parameter) {
  if (!IsOurs(parameter)) {
    return EigenOptimizerKernels::Sgd(arguments, gradient, momentum_buffer, parameter);
  }
  if (eigen::IsNarrow(momentum_buffer)) {
    const auto update = [&](const float* g, float* buffer, float* p, std::int64_t n) {
      loops_.sgd(arguments, g, buffer, p, n);
    };
    return eigen::NarrowSgd(loops_.codec, arguments, gradient, momentum_buffer, parameter, update);
  }
  float* const momentum =
      arguments.momentum != 0 ? eigen::DataOrNull<float>(momentum_buffer) : nullptr;
  eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t at, std::int64_t end) {
    loops_.sgd(arguments, gradient.data<float>() + at,
               momentum != nullptr ? momentum + at : nullptr, parameter.data<float>() + at,
               end - at);
  });
}

void OneDnnOptimizerKernels::Adam(const AdamArguments& arguments, const Tensor& gradient,
                                  const Tensor& first_moment, const Tensor& second_moment,
                                  const Tensor& parameter) {
  if (!IsOurs(parameter)) {
    return EigenOptimizerKernels::Adam(arguments, gradient, first_moment, second_moment, parameter);
  }
  const simd::AdamFactors factors = FactorsOf(arguments);
  if (eigen::IsNarrow(first_moment)) {
    const auto update = [&](const float* g, float* first, float* second, float* p, std::int64_t n) {
      loops_.adam(factors, g, first, second, p, n);
    };
    return eigen::NarrowAdam(loops_.codec, arguments, gradient, first_moment, second_moment,
                             parameter, update);
  }
  eigen::ParallelFor(parameter.size(), eigen::kChunk, [&](std::int64_t at, std::int64_t end) {
    loops_.adam(factors, gradient.data<float>() + at, first_moment.data<float>() + at,
                second_moment.data<float>() + at, parameter.data<float>() + at, end - at);
  });
}

double OneDnnOptimizerKernels::SumOfSquares(const Tensor& x) {
  if (!IsOurs(x)) return EigenOptimizerKernels::SumOfSquares(x);
  return eigen::ParallelSum(x.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
    return loops_.sum_of_squares(x.data<float>() + begin, end - begin);
  });
}

}  // namespace frugal
