#pragma once

#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal {

// Arguments of the updates below, with PyTorch's defaults but for the learning rate. In all of
// them `weight_decay` is added to the gradient where nothing else is said, `step` counts from 1,
// and `gradient_scale` multiplies the gradient first (clipping).

struct RmsPropArguments {
  double learning_rate = 0;
  double alpha = 0.99;  // how much of the average of squares is kept
  double epsilon = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
  double gradient_scale = 1;
};
struct AdagradArguments {
  double learning_rate = 0;
  double rate_decay = 0;  // the rate of a step is divided by 1 + (step - 1) rate_decay
  double epsilon = 1e-10;
  double weight_decay = 0;
  std::int64_t step = 1;
  double gradient_scale = 1;
};
struct AdadeltaArguments {
  double learning_rate = 0;
  double rho = 0.9;  // how much of both averages is kept
  double epsilon = 1e-6;
  double weight_decay = 0;
  double gradient_scale = 1;
};
struct NAdamArguments {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // parameter *= 1 - learning_rate * weight_decay
  double momentum_decay = 4e-3;
  std::int64_t step = 1;
  double gradient_scale = 1;
};
struct RAdamArguments {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // as in NAdam
  std::int64_t step = 1;
  double gradient_scale = 1;
};
struct AdamaxArguments {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  std::int64_t step = 1;
  double gradient_scale = 1;
};

// Optimizers beside SGD and Adam, each one pass over parameter, gradient and state. State tensors
// are shaped as the parameter and hold zeros before the first step. `gradient` is only read.
class AdaptiveKernels {
 public:
  virtual ~AdaptiveKernels() = default;

  // Tieleman & Hinton 2012; centred (Graves, arXiv:1308.0850) where gradient_average is given.
  // momentum_buffer is empty where momentum is 0.
  virtual void RmsProp(const RmsPropArguments& arguments, const Tensor& gradient,
                       const Tensor& square_average, const Tensor& gradient_average,
                       const Tensor& momentum_buffer, const Tensor& parameter) = 0;
  // Duchi, Hazan & Singer 2011. square_sum may start at another value than 0.
  virtual void Adagrad(const AdagradArguments& arguments, const Tensor& gradient,
                       const Tensor& square_sum, const Tensor& parameter) = 0;
  // Zeiler, arXiv:1212.5701. delta_average: of the squares of the steps taken.
  virtual void Adadelta(const AdadeltaArguments& arguments, const Tensor& gradient,
                        const Tensor& square_average, const Tensor& delta_average,
                        const Tensor& parameter) = 0;
  // Dozat 2016, "Incorporating Nesterov Momentum into Adam".
  virtual void NAdam(const NAdamArguments& arguments, const Tensor& gradient,
                     const Tensor& first_moment, const Tensor& second_moment,
                     const Tensor& parameter) = 0;
  // Liu et al., arXiv:1908.03265.
  virtual void RAdam(const RAdamArguments& arguments, const Tensor& gradient,
                     const Tensor& first_moment, const Tensor& second_moment,
                     const Tensor& parameter) = 0;
  // Kingma & Ba, arXiv:1412.6980, section 7.1. infinity_norm: the decaying maximum.
  virtual void Adamax(const AdamaxArguments& arguments, const Tensor& gradient,
                      const Tensor& first_moment, const Tensor& infinity_norm,
                      const Tensor& parameter) = 0;
};

}  // namespace frugal
