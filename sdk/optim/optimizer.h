#pragma once

#include <span>
#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"
#include "sdk/optim/optimizer_rule.h"
#include "sdk/optim/schedule.h"

namespace frugal {

// Applies one update to each trainable parameter that got a gradient in this step. Threads: those
// that update other parameters, in contexts of their own, may share one; the rate is set by one
// alone.
class Optimizer {
 public:
  // clip_norm 0 = no clipping; total_steps is what schedules run down to. Throws ConfigError where
  // options.kind names no rule, UsageError for a rule that has no update or too much state.
  Optimizer(const OptimizerOptions& options, const ScheduleOptions& schedule, double clip_norm,
            std::int64_t total_steps);

  // The norm of all gradients together, before clipping; 0 where nothing asks for it (no clipping).
  double GradientNorm(Context& context, std::span<Parameter* const> parameters) const;
  // The sum of each gradient's squares, in the order of the parameters, 0 where none arrived: what
  // the norm is made of. Empty where nothing clips.
  std::vector<double> SquaresOf(Context& context, std::span<Parameter* const> parameters) const;
  static double NormOf(std::span<const double> squares);
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
  // Takes the memory of the state that a parameter's first update would, where it is not there yet.
  void TakeState(Context& context, const Parameter& parameter) const;

  // Does what follows an update on a device that has a copy of the parameter, when the new value is
  // there.
  void FollowUpdate(Context& context, const Parameter& parameter, const Tensor& value) const;

  // Returns the learning rate of a parameter with rate_factor 1.
  double LearningRate(std::int64_t step) const { return RateAt(step - schedule_begin_); }
  // Returns it for a step of the schedule, counted from where that begins.
  double RateAt(std::int64_t position) const {
    return rate_scale_ * options_.lr * ScheduleFactor(schedule_, position, total_steps_);
  }
  // Lets the schedule begin anew at this step.
  void BeginSchedule(std::int64_t step) { schedule_begin_ = step; }
  std::int64_t schedule_begin() const { return schedule_begin_; }
  // Multiplies all learning rates from now on.
  void set_rate_scale(double scale) { rate_scale_ = scale; }
  // Optimizer state tensors per parameter: 0, 1 or 2.
  std::size_t StateCount() const { return state_count_; }

 private:
  void Update(Context& context, const Parameter& parameter, double gradient_scale) const;
  void UpdateEma(Context& context, const Parameter& parameter, const Tensor& value) const;

  OptimizerOptions options_;
  ScheduleOptions schedule_;
  double clip_norm_;
  std::int64_t total_steps_;
  const OptimizerRule& rule_;
  std::size_t state_count_;
  OptimizerOptions undecayed_;  // the options without weight decay
  double rate_scale_ = 1;
  std::int64_t schedule_begin_ = 0;
};

}  // namespace frugal
