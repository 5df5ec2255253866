#include "builders/ai_model_builder.h"

#include <algorithm>

#include "builders/config/architecture_reader.h"
#include "builders/config/overrides.h"
#include "builders/config/run_config_fields.h"
#include "builders/config/run_config_reader.h"
#include "builders/plan/machine_memory.h"
#include "builders/plan/planner.h"
#include "presets/config/field_limits.h"
#include "presets/config/resolved.h"
#include "presets/memory_presets.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

// Replaces a section and notes which of its values the code changed.
template <class Options>
void Replace(Options& section, const Options& with, const FieldTable& fields,
             const std::string& name, Origins& origins) {
  MarkChanges(fields, &section, &with, name, Origin::Code(), origins);
  section = with;
}

[[noreturn]] void RefuseOwnData(std::string required, std::string given) {
  throw ConfigError({.where = "AiModelBuilder::Data",
                     .required = std::move(required),
                     .given = std::move(given),
                     .advice = "correct the layout"});
}

void CheckPart(std::int64_t samples, const DataSource* source, const std::string& part) {
  if (samples < 0 || static_cast<double>(samples) > kMostSamples) {
    RefuseOwnData("the " + part + " part has from 0 to 2^40 samples",
                  FormatCount(samples) + " are announced");
  }
  if (source == nullptr || source->count() >= samples) return;
  RefuseOwnData(
      "the " + part + " part has the " + FormatCount(samples) + " samples that are announced",
      "it has " + FormatCount(source->count()));
}

void CheckSampleShape(const Shape& shape) {
  const auto empty = [](std::int64_t extent) { return extent < 1; };
  if (std::ranges::none_of(shape.extents(), empty)) return;
  RefuseOwnData("all extents of a sample are at least 1", ToString(shape) + " is announced");
}

}  // namespace

AiModelBuilder AiModelBuilder::FromToml(const std::string& path,
                                        const std::vector<std::string>& overrides) {
  AiModelBuilder builder;
  builder.config_ = ReadRunConfig(path, overrides);
  return builder;
}

AiModelBuilder& AiModelBuilder::Name(std::string name) {
  config_.model.name = std::move(name);
  config_.origins.Set("model.name", Origin::Code());
  return *this;
}

AiModelBuilder& AiModelBuilder::Memory(const TrainingMemoryConfig& config) {
  MarkMemoryChanges(config_.memory, config, config_.origins);
  config_.memory = config;
  return *this;
}

AiModelBuilder& AiModelBuilder::Data(const DataOptions& options) {
  Replace(config_.data, options, DataFields(), "data", config_.origins);
  layout_.reset();
  return *this;
}

AiModelBuilder& AiModelBuilder::Data(const DataLayout& layout, DataSources sources) {
  CheckPart(layout.train_count, sources.train.get(), "training");
  CheckPart(layout.test_count, sources.test.get(), "test");
  CheckPart(layout.validation_count, sources.validation.get(), "validation");
  CheckSampleShape(layout.sample_shape);
  layout_ = layout;
  sources_ = std::move(sources);
  return *this;
}

AiModelBuilder& AiModelBuilder::Layers(const LayerList::Fill& fill) {
  config_.model.layers = SpecsOf(fill);
  config_.model.architecture.reset();
  config_.model.network = nullptr;
  return *this;
}

AiModelBuilder& AiModelBuilder::Architecture(const ArchitectureConfig& config) {
  static_cast<void>(FamilyOf(config));  // throws where it is of none
  config_.model.architecture = config;
  config_.model.layers.clear();
  config_.model.network = nullptr;
  return *this;
}

AiModelBuilder& AiModelBuilder::Network(NetworkMaker make) {
  config_.model.network = std::move(make);
  config_.model.architecture.reset();
  config_.model.layers.clear();
  return *this;
}

AiModelBuilder& AiModelBuilder::Network(std::unique_ptr<Sequential> network) {
  const auto given = std::make_shared<std::unique_ptr<Sequential>>(std::move(network));
  return Network([given] {
    if (*given) return std::move(*given);
    throw UsageError({.where = "AiModelBuilder::Network",
                      .required = "a network that is given as it is serves one plan or model",
                      .given = "another one is asked for, or null was given",
                      .advice = "give a function that makes the network"});
  });
}

AiModelBuilder& AiModelBuilder::Architecture(const std::string& preset) {
  return Architecture(ArchitectureNamed(preset));
}

AiModelBuilder& AiModelBuilder::Loss(const LossOptions& options) {
  Replace(config_.loss, options, LossFields(), "loss", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Metrics(std::vector<std::string> names) {
  config_.training.metrics = std::move(names);
  config_.origins.Set("training.metrics", Origin::Code());
  return *this;
}

AiModelBuilder& AiModelBuilder::Optimizer(const OptimizerOptions& options) {
  Replace(config_.optimizer, options, OptimizerFields(), "optimizer", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Schedule(const ScheduleOptions& options) {
  Replace(config_.schedule, options, ScheduleFields(), "schedule", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Training(const TrainingOptions& options) {
  Replace(config_.training, options, TrainingFields(), "training", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Diffusion(const DiffusionOptions& options) {
  Replace(config_.diffusion, options, DiffusionFields(), "diffusion", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Sharding(const ShardingOptions& options) {
  Replace(config_.sharding, options, ShardingFields(), "sharding", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Snapshots(const SnapshotOptions& options) {
  Replace(config_.snapshots, options, SnapshotFields(), "snapshots", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Output(const OutputOptions& options) {
  Replace(config_.output, options, OutputFields(), "output", config_.origins);
  return *this;
}

AiModelBuilder& AiModelBuilder::Freeze(std::vector<std::string> paths) {
  config_.training.frozen = std::move(paths);
  config_.origins.Set("training.frozen", Origin::Code());
  return *this;
}

AiModelBuilder& AiModelBuilder::LearningRateMultiplier(std::vector<std::string> paths,
                                                       double factor) {
  config_.optimizer.lr_multiplier_for = std::move(paths);
  config_.optimizer.lr_multiplier = factor;
  config_.origins.Set("optimizer.lr_multiplier_for", Origin::Code());
  config_.origins.Set("optimizer.lr_multiplier", Origin::Code());
  return *this;
}

AiModelBuilder& AiModelBuilder::AllowMissingWeights(bool allow) {
  config_.model.allow_missing = allow;
  config_.origins.Set("model.allow_missing", Origin::Code());
  return *this;
}

AiModelBuilder& AiModelBuilder::AllowOvercommit(bool allow) {
  allow_overcommit_ = allow;
  return *this;
}

AiModelBuilder& AiModelBuilder::Override(const std::vector<std::string>& assignments) {
  ApplyOverrides(config_, assignments);
  return *this;
}

PlannedTraining AiModelBuilder::Plan() const {
  return PlanTraining(config_, layout_ ? &*layout_ : nullptr);
}

Model AiModelBuilder::Build() const {
  PlannedTraining planned = Plan();
  const bool is_lazy = config_.memory.default_initialization_strategy ==
                       InitializationStrategy::kLazy;  // it takes nothing yet
  if (!allow_overcommit_ && !is_lazy) RequireMachineMemory(planned, ReadSystemMemory());
  return Model(std::move(planned), sources_);
}

}  // namespace frugal
