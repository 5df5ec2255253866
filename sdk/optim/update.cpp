#include "sdk/optim/update.h"

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

void RunAdam(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  backend.optimizer().Adam({.learning_rate = call.rate,
                            .beta1 = options.beta1,
                            .beta2 = options.beta2,
                            .epsilon = call.epsilon,
                            .weight_decay = options.weight_decay,
                            .decoupled = options.kind == OptimizerKind::kAdamW,
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

}  // namespace

void RunUpdate(Backend& backend, const OptimizerOptions& options, const UpdateCall& call) {
  switch (options.kind) {
    case OptimizerKind::kSgd:
      return RunSgd(backend, options, call);
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      return RunAdam(backend, options, call);
    case OptimizerKind::kRmsProp:
      return RunRmsProp(backend, options, call);
    case OptimizerKind::kAdagrad:
      return RunAdagrad(backend, options, call);
    case OptimizerKind::kAdadelta:
      return RunAdadelta(backend, options, call);
    case OptimizerKind::kNAdam:
      return RunNAdam(backend, options, call);
    case OptimizerKind::kRAdam:
      return backend.adaptive().RAdam(MomentArguments<RAdamArguments>(options, call), call.gradient,
                                      call.state[0], call.state[1], call.value);
    case OptimizerKind::kAdamax:
      return backend.adaptive().Adamax(MomentArguments<AdamaxArguments>(options, call),
                                       call.gradient, call.state[0], call.state[1], call.value);
  }
}

}  // namespace frugal
