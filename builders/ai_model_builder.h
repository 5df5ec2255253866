#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builders/architectures.h"
#include "builders/config/layer_list.h"
#include "builders/run/model.h"

namespace frugal {

// Builds a model from code, from a configuration file, or from a file and changes in code. Each
// verb replaces what was there before; what it changes is noted as coming from code. Threads: one
// uses a builder at a time; Plan and Build of different builders may run side by side.
class AiModelBuilder {
 public:
  AiModelBuilder() = default;
  // Starts from a file, with overrides "section.key=value" on top.
  static AiModelBuilder FromToml(const std::string& path,
                                 const std::vector<std::string>& overrides = {});

  AiModelBuilder& Name(std::string name);
  AiModelBuilder& Memory(const TrainingMemoryConfig& config);
  AiModelBuilder& Data(const DataOptions& options);
  // One's own data. `layout` must tell the truth about the sources.
  AiModelBuilder& Data(const DataLayout& layout, DataSources sources);
  AiModelBuilder& Layers(const LayerList::Fill& fill);
  // A named architecture instead: .Architecture(Gpt2Config{.n_layer = 6}), or one that is
  // published, .Architecture("gpt2-xl").
  AiModelBuilder& Architecture(const ArchitectureConfig& config);
  AiModelBuilder& Architecture(const std::string& preset);
  // A network of the program's own, which the function makes whenever one is needed: for the plan,
  // for each device and for copies. Given as it is, a network serves one Plan or Build alone.
  AiModelBuilder& Network(NetworkMaker make);
  AiModelBuilder& Network(std::unique_ptr<Sequential> network);
  AiModelBuilder& Loss(const LossOptions& options);
  // Names what evaluations measure beside loss and accuracy (TrainingOptions::metrics).
  AiModelBuilder& Metrics(std::vector<std::string> names);
  // A loss of the program's own: a scalar, made by operations of the outputs and the targets.
  template <std::invocable<Context&, const Var&, const Tensor&> Function>
  AiModelBuilder& Loss(Function function) {
    config_.loss.function = std::move(function);
    return *this;
  }
  AiModelBuilder& Optimizer(const OptimizerOptions& options);
  AiModelBuilder& Schedule(const ScheduleOptions& options);
  // The factor of the learning rate by step (from 0) and number of steps.
  template <std::invocable<std::int64_t, std::int64_t> Function>
  AiModelBuilder& Schedule(Function function) {
    config_.schedule.function = std::move(function);
    return *this;
  }
  AiModelBuilder& Training(const TrainingOptions& options);
  AiModelBuilder& Diffusion(const DiffusionOptions& options);
  AiModelBuilder& Sharding(const ShardingOptions& options);
  // Snapshots of the training: .Snapshots({.directory = "runs/a", .every_n_steps = 100}).
  AiModelBuilder& Snapshots(const SnapshotOptions& options);
  AiModelBuilder& Output(const OutputOptions& options);
  // Parameters under these paths stay as they are (TrainingOptions::frozen), or learn at `factor`
  // of the rate (OptimizerOptions::lr_multiplier_for).
  AiModelBuilder& Freeze(std::vector<std::string> paths);
  AiModelBuilder& LearningRateMultiplier(std::vector<std::string> paths, double factor = 0.1);
  // Weights from a file may lack tensors or have others (ModelOptions::allow_missing).
  AiModelBuilder& AllowMissingWeights(bool allow = true);
  // Builds a model although its plan does not fit the memory that is free now, e.g. where there is
  // swap or others are about to end.
  AiModelBuilder& AllowOvercommit(bool allow = true);
  // Puts "section.key=value" on top of what was set so far, e.g. from a program's arguments.
  AiModelBuilder& Override(const std::vector<std::string>& assignments);

  const RunConfig& config() const { return config_; }

  // Checks, sizes and plans everything; no parameter memory is taken.
  PlannedTraining Plan() const;
  // Plans, then makes the model. Throws MemoryError where the plan does not fit the memory that is
  // free now, but for a model with lazy initialization, which takes none before it is used.
  Model Build() const;

 private:
  RunConfig config_;
  std::optional<DataLayout> layout_;
  DataSources sources_;
  bool allow_overcommit_ = false;
};

}  // namespace frugal
