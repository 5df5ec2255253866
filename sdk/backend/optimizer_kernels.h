#pragma once

#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal {

// Updates in one pass over parameter, gradient and state. `gradient_scale` multiplies the gradient
// first (clipping). The state has the type of the parameter, or, where that is f32, is kBF16 or kU8
// of BlockStateBytes (sdk/backend/state_codec.h), rounded by noise of `noise_key`: the same key
// gives the same bits, and each parameter and step has its own.
struct SgdArguments {
  double learning_rate = 0;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // added to the gradient
  bool nesterov = false;
  bool first_step = false;  // the momentum buffer starts as the first gradient
  double gradient_scale = 1;
  std::uint64_t noise_key = 0;
};
struct AdamArguments {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // AdamW: parameter *= 1 - learning_rate * weight_decay
  std::int64_t step = 1;   // counts from 1, for the bias corrections
  double gradient_scale = 1;
  std::uint64_t noise_key = 0;
};

class OptimizerKernels {
 public:
  virtual ~OptimizerKernels() = default;

  // momentum_buffer is empty where momentum is 0.
  virtual void Sgd(const SgdArguments& arguments, const Tensor& gradient,
                   const Tensor& momentum_buffer, const Tensor& parameter) = 0;
  virtual void Adam(const AdamArguments& arguments, const Tensor& gradient,
                    const Tensor& first_moment, const Tensor& second_moment,
                    const Tensor& parameter) = 0;
  // Sum of squares in double precision, chunk by chunk.
  virtual double SumOfSquares(const Tensor& x) = 0;
};

}  // namespace frugal
