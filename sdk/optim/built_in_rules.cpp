#include "sdk/optim/built_in_rules.h"

#include <functional>

namespace frugal {
namespace {

void RunSgd(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  backend.optimizer().Sgd({.learning_rate = call.rate,
                           .momentum = options.momentum,
                           .dampening = 0,
                           .weight_decay = options.weight_decay,
                           .nesterov = options.nesterov,
                           .first_step = call.first_step,
                           .gradient_scale = call.scale,
                           .noise_key = call.noise_key},
                          call.gradient, call.state[0], call.value);
}

void RunAdam(bool decoupled, Backend& backend, const OptimizerOptions& options,
             const UpdateCall& call) {
  backend.optimizer().Adam({.learning_rate = call.rate,
                            .beta1 = options.beta1,
                            .beta2 = options.beta2,
                            .epsilon = call.epsilon,
                            .weight_decay = options.weight_decay,
                            .decoupled = decoupled,
                            .step = call.step,
                            .gradient_scale = call.scale,
                            .noise_key = call.noise_key},
                           call.gradient, call.state[0], call.state[1], call.value);
}

void RunRmsProp(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  backend.adaptive().RmsProp({.learning_rate = call.rate,
                              .alpha = options.alpha,
                              .epsilon = call.epsilon,
                              .momentum = options.momentum,
                              .weight_decay = options.weight_decay,
                              .gradient_scale = call.scale},
                             call.gradient, call.state[0], {}, call.state[1], call.value);
}

void RunAdagrad(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  backend.adaptive().Adagrad({.learning_rate = call.rate,
                              .rate_decay = options.rate_decay,
                              .epsilon = call.epsilon,
                              .weight_decay = options.weight_decay,
                              .step = call.step,
                              .gradient_scale = call.scale},
                             call.gradient, call.state[0], call.value);
}

void RunAdadelta(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  backend.adaptive().Adadelta({.learning_rate = call.rate,
                               .rho = options.rho,
                               .epsilon = call.epsilon,
                               .weight_decay = options.weight_decay,
                               .gradient_scale = call.scale},
                              call.gradient, call.state[0], call.state[1], call.value);
}

// The arguments that the rules with two moments share.
template <class Arguments>
Arguments MomentArguments(const OptimizerOptions& options, const UpdateCall& call) {
  Arguments arguments;
  arguments.learning_rate = call.rate;
  arguments.beta1 = options.beta1;
  arguments.beta2 = options.beta2;
  arguments.epsilon = call.epsilon;
  arguments.weight_decay = options.weight_decay;
  arguments.step = call.step;
  arguments.gradient_scale = call.scale;
  return arguments;
}

void RunNAdam(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  auto arguments = MomentArguments<NAdamArguments>(options, call);
  arguments.momentum_decay = options.momentum_decay;
  backend.adaptive().NAdam(arguments, call.gradient, call.state[0], call.state[1], call.value);
}

void RunRAdam(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  backend.adaptive().RAdam(MomentArguments<RAdamArguments>(options, call), call.gradient,
                           call.state[0], call.state[1], call.value);
}

void RunAdamax(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  backend.adaptive().Adamax(MomentArguments<AdamaxArguments>(options, call), call.gradient,
                            call.state[0], call.state[1], call.value);
}

std::size_t One(const OptimizerOptions&) { return 1; }
std::size_t Two(const OptimizerOptions&) { return 2; }
std::size_t OneForMomentum(const OptimizerOptions& options) {
  return options.momentum == 0 ? 0 : 1;
}

OptimizerRule Sgd() {
  return {.name = "sgd",
          .doc = "Steps along the gradient, with momentum and Nesterov's form.",
          .reads = {"momentum", "nesterov"},
          .states = OneForMomentum,
          .narrow_state = true,
          .update = RunSgd};
}

OptimizerRule Adam() {
  return {.name = "adam",
          .doc = "Steps by the first moment over the root of the second (arXiv:1412.6980).",
          .reads = {"beta1", "beta2", "eps"},
          .states = Two,
          .narrow_state = true,
          .update = std::bind_front(RunAdam, false)};
}

OptimizerRule AdamW() {
  return {.name = "adamw",
          .doc = "Adam with weight decay apart from the gradient (arXiv:1711.05101).",
          .reads = {"beta1", "beta2", "eps"},
          .states = Two,
          .narrow_state = true,
          .update = std::bind_front(RunAdam, true)};
}

OptimizerRule RmsProp() {
  return {.name = "rmsprop",
          .doc = "Steps over the root of a moving mean of squared gradients.",
          .reads = {"momentum", "alpha", "eps"},
          .states = [](const OptimizerOptions& options) { return 1 + OneForMomentum(options); },
          .update = RunRmsProp};
}

OptimizerRule Adagrad() {
  return {.name = "adagrad",
          .doc = "Steps over the root of the sum of all squared gradients.",
          .reads = {"rate_decay", "eps"},
          .eps = 1e-10,
          .states = One,
          .update = RunAdagrad};
}

OptimizerRule Adadelta() {
  return {.name = "adadelta",
          .doc = "Steps in the scale of earlier steps (arXiv:1212.5701).",
          .reads = {"rho", "eps"},
          .eps = 1e-6,
          .states = Two,
          .update = RunAdadelta};
}

OptimizerRule NAdam() {
  return {.name = "nadam",
          .doc = "Adam with Nesterov's momentum.",
          .reads = {"beta1", "beta2", "momentum_decay", "eps"},
          .states = Two,
          .update = RunNAdam};
}

OptimizerRule RAdam() {
  return {.name = "radam",
          .doc = "Adam that trusts the second moment by degrees (arXiv:1908.03265).",
          .reads = {"beta1", "beta2", "eps"},
          .states = Two,
          .update = RunRAdam};
}

OptimizerRule Adamax() {
  return {.name = "adamax",
          .doc = "Adam with the largest gradient in place of the second moment.",
          .reads = {"beta1", "beta2", "eps"},
          .states = Two,
          .update = RunAdamax};
}

}  // namespace

std::vector<OptimizerRule> BuiltInRules() {
  return {Sgd(), Adam(), AdamW(), RmsProp(), Adagrad(), Adadelta(), NAdam(), RAdam(), Adamax()};
}

}  // namespace frugal
