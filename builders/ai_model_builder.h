#pragma once

#include <string>
#include <vector>

#include "builders/config/layer_list.h"
#include "builders/run/model.h"

namespace frugal {

// Builds a model from code, from a configuration file, or from a file and changes in code. Each
// verb replaces what was there before; what it changes is noted as coming from code.
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
  AiModelBuilder& Loss(const LossOptions& options);
  AiModelBuilder& Optimizer(const OptimizerOptions& options);
  AiModelBuilder& Schedule(const ScheduleOptions& options);
  AiModelBuilder& Training(const TrainingOptions& options);
  AiModelBuilder& Diffusion(const DiffusionOptions& options);
  AiModelBuilder& Sharding(const ShardingOptions& options);
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
