#include "sdk/optim/optimizer.h"

#include <array>
#include <cmath>

#include "sdk/module/parameter_store.h"

namespace frugal {

std::string_view NameOf(OptimizerKind kind) {
  constexpr std::array<std::string_view, 3> names = {"sgd", "adam", "adamw"};
  return names[static_cast<std::size_t>(kind)];
}

std::size_t Optimizer::StateCount() const {
  if (options_.kind == OptimizerKind::kSgd) return options_.momentum == 0 ? 0 : 1;
  return 2;
}

double Optimizer::GradientNorm(Context& context, std::span<Parameter* const> parameters) const {
  double sum = 0;
  for (const Parameter* parameter : parameters) {
    const Tensor gradient = context.parameters().Gradient(*parameter);
    if (!gradient) continue;
    context.Launch(
        [&](Backend& backend, void*) { sum += backend.optimizer().SumOfSquares(gradient); });
  }
  return std::sqrt(sum);
}

double Optimizer::Step(Context& context, std::span<Parameter* const> parameters) const {
  const double norm = clip_norm_ > 0 ? GradientNorm(context, parameters) : 0;
  // As PyTorch's clip_grad_norm_: a small constant keeps the quotient finite.
  const double scale = clip_norm_ > 0 ? std::min(1.0, clip_norm_ / (norm + 1e-6)) : 1;
  for (const Parameter* parameter : parameters) Update(context, *parameter, scale);
  return norm;
}

void Optimizer::Update(Context& context, const Parameter& parameter, double gradient_scale) const {
  ParameterStore& store = context.parameters();
  const Tensor gradient = store.Gradient(parameter);
  if (!gradient || !parameter.trainable) return;
  const Tensor value = store.Value(parameter);
  std::array<Tensor, ParameterStore::kStateCount> state;
  const bool first_step = StateCount() > 0 && !store.HasState(parameter, 0);
  for (std::size_t i = 0; i < StateCount(); ++i) {
    state[i] = store.State(parameter, i, context.planning_backend());
  }
  const double rate = LearningRate(context.step());
  context.Launch([&](Backend& backend, void*) {
    if (options_.kind == OptimizerKind::kSgd) {
      backend.optimizer().Sgd({.learning_rate = rate,
                               .momentum = options_.momentum,
                               .dampening = 0,
                               .weight_decay = options_.weight_decay,
                               .nesterov = options_.nesterov,
                               .first_step = first_step,
                               .gradient_scale = gradient_scale},
                              gradient, state[0], value);
      return;
    }
    backend.optimizer().Adam({.learning_rate = rate,
                              .beta1 = options_.beta1,
                              .beta2 = options_.beta2,
                              .epsilon = options_.eps,
                              .weight_decay = options_.weight_decay,
                              .decoupled = options_.kind == OptimizerKind::kAdamW,
                              .step = context.step() + 1,
                              .gradient_scale = gradient_scale},
                             gradient, state[0], state[1], value);
  });
}

}  // namespace frugal
