#pragma once

#include <span>
#include <string>
#include <vector>

#include "builders/plan/planned_training.h"
#include "builders/run/data_sources.h"
#include "builders/run/memory_stack.h"
#include "builders/run/step_layouts.h"
#include "builders/run/training_result.h"
#include "sdk/module/parameter_store.h"

namespace frugal {

// Runs planned steps: holds the memory, the values of the parameters, the context that steps run in
// and the data. Trainings, evaluations and predictions go through it. It checks nothing of what it
// is given; Model does.
class Executor {
 public:
  // The planned training must outlive it. With own data, `sources` holds it; otherwise data sets
  // are read when they are first needed. Takes parameter memory here, or, with lazy initialization,
  // when each is first touched.
  Executor(const PlannedTraining& planned, DataSources sources);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const PlannedTraining& planned() const { return planned_; }
  MemoryStack& memory() { return memory_; }
  const MemoryStack& memory() const { return memory_; }
  ParameterStore& store() { return store_; }
  Context& context() { return context_; }
  const DataSources& sources() const { return sources_; }

  // Opens the part where it is not open yet. Throws UsageError where the program brought none.
  const DataSource& Source(DatasetPart part);

  // Runs a training or evaluation step on the memory that was planned for it.
  StepResult RunStep(StepKind kind, const DataSource& source,
                     std::span<const std::int64_t> samples);
  // Returns the network's outputs for `count` samples of all of its inputs.
  std::vector<float> Predict(std::span<const InputValues> inputs, std::int64_t count);
  // Runs over the test part. Throws UsageError where there is none.
  EvaluationResult Evaluate();

  // Swaps the weights with their moving averages, where the optimizer keeps them.
  void SwapEma();
  bool keeps_averages() const { return planned_.config.optimizer.ema_decay > 0; }
  // True where the weights are their averages now.
  bool averaged() const { return averaged_; }

  // Does what Model::RequireFiniteWeights says.
  void RequireFiniteWeights();
  std::string WeightsHash();
  // Takes the values that are materialized there. The network must be the same.
  void CopyValues(const Executor& from);

  MemoryMeasurement Measured() const;

 private:
  template <class Step>
  auto RunPlanned(StepKind kind, std::int64_t batch, Step step);
  StepLayouts::Layout LayoutFor(StepKind kind, std::int64_t batch);

  const PlannedTraining& planned_;
  MemoryStack memory_;
  ParameterStore store_;
  Context context_;
  DataSources sources_;
  StepLayouts layouts_;  // of steps that are not in the plan
  bool averaged_ = false;
};

// While it lives, the weights are their moving averages, where the optimizer keeps them.
class EmaScope {
 public:
  explicit EmaScope(Executor& executor)
      : executor_(executor.keeps_averages() && !executor.averaged() ? &executor : nullptr) {
    if (executor_ != nullptr) executor_->SwapEma();
  }
  EmaScope(const EmaScope&) = delete;
  EmaScope& operator=(const EmaScope&) = delete;
  ~EmaScope() {
    if (executor_ != nullptr) executor_->SwapEma();
  }

  // False where there are no averages, or the weights were these already.
  bool swaps() const { return executor_ != nullptr; }

 private:
  Executor* executor_;  // null where there is nothing to undo
};

}  // namespace frugal
