#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/state_bodies.h"
#include "sdk/backend/onednn/simd/vector/math.h"

namespace frugal::simd {
namespace {

inline void SgdPlain(float rate, float scale, float decay, const float* gradient, float* parameter,
                     std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    parameter[i] -= rate * (gradient[i] * scale + decay * parameter[i]);
  }
}

// old * kept + new * taken: the momentum buffer, which starts as the first gradient.
inline void Sgd(const SgdArguments& arguments, const float* gradient, float* momentum,
                float* parameter, std::int64_t n) {
  const float rate = static_cast<float>(arguments.learning_rate);
  const float scale = static_cast<float>(arguments.gradient_scale);
  const float decay = static_cast<float>(arguments.weight_decay);
  if (momentum == nullptr) {
    SgdPlain(rate, scale, decay, gradient, parameter, n);
    return;
  }
  const bool first = arguments.first_step;
  const float factor = static_cast<float>(arguments.momentum);
  const float taken = first ? 1.0f : static_cast<float>(1.0 - arguments.dampening);
  const float direct = arguments.nesterov ? 1.0f : 0.0f;
  const float through = arguments.nesterov ? factor : 1.0f;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = gradient[i] * scale + decay * parameter[i];
    const float old = first ? 0.0f : momentum[i] * factor;  // what it held first is not read
    const float m = old + taken * g;
    momentum[i] = m;
    parameter[i] -= rate * (direct * g + through * m);
  }
}

inline void Adam(const AdamFactors& factors, const float* gradient, float* first, float* second,
                 float* parameter, std::int64_t n) {
  const AdamFactors f = factors;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = gradient[i] * f.gradient_scale + f.added_decay * parameter[i];
    const float m = f.beta1 * first[i] + f.taken1 * g;
    const float v = f.beta2 * second[i] + f.taken2 * (g * g);
    first[i] = m;
    second[i] = v;
    const float denominator = SquareRoot(v) * f.second_correction + f.epsilon;
    parameter[i] = parameter[i] * f.kept - f.step_size * (m / denominator);
  }
}

inline double SumOfSquares(const float* x, std::int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  return sum;
}

inline constexpr OptimizerLoops kOptimizerLoops{Sgd, Adam, SumOfSquares, kStateCodec};

}  // namespace
}  // namespace frugal::simd
