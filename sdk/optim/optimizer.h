#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"
#include "sdk/optim/schedule.h"
#include "sdk/optim/state_format.h"

namespace frugal {

enum class OptimizerKind : std::uint8_t {
  kSgd,       // with momentum and Nesterov's form (Sutskever et al., ICML 2013)
  kAdam,      // Kingma & Ba, arXiv:1412.6980; weight decay is added to the gradient
  kAdamW,     // Loshchilov & Hutter, arXiv:1711.05101: weight decay apart from the gradient
  kRmsProp,   // Tieleman & Hinton 2012, lecture 6.5
  kAdagrad,   // Duchi et al., JMLR 2011
  kAdadelta,  // Zeiler, arXiv:1212.5701
  kNAdam,     // Dozat 2016
  kRAdam,     // Liu et al., arXiv:1908.03265
  kAdamax,    // Kingma & Ba, arXiv:1412.6980, section 7.1
};
inline constexpr std::size_t kOptimizerKindCount = 9;
std::string_view NameOf(OptimizerKind kind);  // "sgd", "adam", "adamw", "rmsprop", ...

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double lr = 1e-3;
  double momentum = 0;  // sgd, rmsprop
  bool nesterov = false;
  double beta1 = 0.9;  // adam, adamw, nadam, radam, adamax
  double beta2 = 0.999;
  double alpha = 0.99;           // rmsprop
  double rho = 0.9;              // adadelta
  double rate_decay = 0;         // adagrad
  double momentum_decay = 4e-3;  // nadam
  // All but sgd; not given: 1e-10 for adagrad, 1e-6 for adadelta, else 1e-8, as PyTorch.
  std::optional<double> eps{};
  double weight_decay = 0;
  StateFormat state = StateFormat::kF32;  // sgd with momentum, adam and adamw; others: kF32 only
  // > 0: the weights' moving average is kept beside them: after update t (from 0) it is
  // d average + (1 - d) weight, d = min(average_decay, t / (t + 10)). Evaluations, predictions,
  // samples and saved weights are then the average's.
  double average_decay = 0;
  // Parameters under these paths ("layer4", "layer4.0.conv1") learn at slow_factor of the rate.
  std::vector<std::string> slow{};
  double slow_factor = 0.1;
};

// Applies one update to each trainable parameter that got a gradient in this step.
class Optimizer {
 public:
  // clip_norm 0 = no clipping; total_steps is what schedules run down to.
  Optimizer(const OptimizerOptions& options, const ScheduleOptions& schedule, double clip_norm,
            std::int64_t total_steps)
      : options_(options), schedule_(schedule), clip_norm_(clip_norm), total_steps_(total_steps) {}

  // The norm of all gradients together, before clipping; 0 where nothing asks for it (no clipping).
  double GradientNorm(Context& context, std::span<Parameter* const> parameters) const;
  // Uses Context::step() as the step number (from 0); `norm` is what GradientNorm returned.
  void Step(Context& context, std::span<Parameter* const> parameters, double norm) const;
  // Both of them. Returns the norm.
  double Step(Context& context, std::span<Parameter* const> parameters) const;

  // One parameter's update, for gradients that are used as soon as they are final. Only without
  // clipping, which needs the norm of all of them first.
  void StepOne(Context& context, const Parameter& parameter) const {
    Update(context, parameter, 1);
  }
  bool clips() const { return clip_norm_ > 0; }

  // Of a parameter with rate_factor 1.
  double LearningRate(std::int64_t step) const {
    return options_.lr * ScheduleFactor(schedule_, step, total_steps_);
  }
  // Optimizer state tensors per parameter: 0, 1 or 2.
  std::size_t StateCount() const;

 private:
  void Update(Context& context, const Parameter& parameter, double gradient_scale) const;
  void MoveAverage(Context& context, const Parameter& parameter) const;
  double Epsilon() const;

  OptimizerOptions options_;
  ScheduleOptions schedule_;
  double clip_norm_;
  std::int64_t total_steps_;
};

}  // namespace frugal
