#include "builders/setup/training_setup.h"

#include <algorithm>
#include <numeric>

#include "builders/config/error_place.h"
#include "builders/config/loss_rules.h"
#include "builders/config/run_rules.h"
#include "builders/config/sharding_rules.h"
#include "builders/config/text/weights_description.h"
#include "builders/config/value_check.h"
#include "builders/setup/network_builder.h"
#include "builders/setup/network_inputs.h"
#include "builders/setup/network_outputs.h"
#include "builders/setup/parameter_groups.h"
#include "presets/config/field_limits.h"
#include "presets/memory_rules.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/with_place.h"
#include "sdk/data/batches.h"

namespace frugal {
namespace {

void CheckConfig(const RunConfig& config, bool custom_data) {
  Diagnostics diagnostics;
  CheckMemory(config.memory);
  CheckValues(config, diagnostics);
  diagnostics.ThrowIfAny();
  CheckRun(config, custom_data, diagnostics);
  diagnostics.ThrowIfAny();
}

// DatasetOf with the place of `key` in its errors.
DatasetDescription DatasetAt(const RunConfig& config, const std::string& key,
                             const DataOptions& options) {
  return WithPlace(config.origins.PlaceOf(key), [&] { return DatasetOf(options); });
}

DatasetDescription DatasetIn(const RunConfig& config) {
  if (config.data.text_file) return DatasetAt(config, "data.text_file", config.data);
  DataOptions all = config.data;
  all.classes_used.reset();
  DatasetDescription dataset = DatasetAt(config, "data.dataset", all);
  if (!config.data.classes_used) return dataset;
  return DatasetAt(config, "data.classes_used", config.data);
}

// Sets the loss that diffusion minimizes unless somebody chose otherwise.
RunConfig WithLossOfDiffusion(RunConfig config) {
  const bool chosen = config.origins.Of("loss.kind").kind != OriginKind::kDefault;
  if (config.diffusion.kind != DiffusionKind::kNone && !chosen) config.loss.kind = LossKind::kMse;
  return config;
}

LastBatch LastBatchOf(const TrainingOptions& options) {
  return options.drop_last ? LastBatch::kDrop : LastBatch::kKeepSmaller;
}

// A part without samples, or two of them, would be looked at in silence.
void CheckValidation(const RunConfig& config, const DataLayout& layout, std::int64_t held_out) {
  const double fraction = config.data.validation_fraction;
  if (fraction == 0 || (held_out > 0 && layout.validation_count == 0)) return;
  const bool is_empty = held_out == 0;
  throw ConfigError(
      {.where = "data.validation_fraction",
       .required = is_empty ? "the share that is held out has a sample"
                            : "the data have one validation part",
       .given = is_empty ? "it has none of these training samples"
                         : "a share of the training samples, and a validation source",
       .advice = is_empty ? "hold out a larger share, or none" : "leave one of them out"},
      config.origins.PlaceOf("data.validation_fraction"));
}

EpochSchedule EpochScheduleOf(const RunConfig& config, const DataLayout& layout) {
  const TrainingOptions& training = config.training;
  EpochSchedule schedule;
  const std::int64_t all =
      std::min(layout.train_count, config.data.train_limit.value_or(layout.train_count));
  const auto cut =
      static_cast<std::int64_t>(static_cast<double>(all) * config.data.validation_fraction);
  CheckValidation(config, layout, cut);
  schedule.train_samples = all - cut;
  const std::int64_t test_samples =
      std::min(layout.test_count, config.data.test_limit.value_or(layout.test_count));
  const std::int64_t validation = cut > 0 ? cut : layout.validation_count;
  schedule.test_samples = training.evaluate ? test_samples : 0;
  schedule.validation_samples = training.evaluate ? validation : 0;
  schedule.batch = training.batch_size;
  schedule.evaluation_batch = training.evaluation_batch_size;
  schedule.drop_last = training.drop_last;
  schedule.steps_per_epoch =
      BatchCount(schedule.train_samples, schedule.batch, LastBatchOf(training));
  if (schedule.steps_per_epoch == 0) {
    const Diagnostic diagnostic = {.where = "training",
                                   .required = "an epoch has at least one batch",
                                   .given = "batch_size = " + std::to_string(schedule.batch) +
                                            " with " + std::to_string(schedule.train_samples) +
                                            " training samples",
                                   .advice = "use a smaller batch, or drop_last = false"};
    throw ConfigError(diagnostic, config.origins.PlaceOf("training.batch_size"));
  }
  schedule.total_steps = schedule.steps_per_epoch * training.epochs;
  if (training.max_steps)
    schedule.total_steps = std::min(schedule.total_steps, *training.max_steps);
  return schedule;
}

EpochSchedule InferenceScheduleOf(const RunConfig& config, const DataLayout& layout,
                                  const InferenceSettings& settings) {
  const std::int64_t evaluated = config.training.evaluation_batch_size;
  EpochSchedule schedule;
  if (settings.evaluates) {
    schedule.test_samples =
        std::min(layout.test_count, config.data.test_limit.value_or(layout.test_count));
  }
  schedule.batch = schedule.predict_batch = settings.batch;
  schedule.evaluation_batch = evaluated;
  schedule.steps_per_epoch = 1;
  return schedule;
}

// The data that a network is evaluated on must look like those that it was trained on.
void CheckSameData(const DataLayout& trained, const DataLayout& given) {
  const bool same = trained.sample_shape == given.sample_shape &&
                    trained.classes == given.classes && trained.vocabulary == given.vocabulary;
  if (same) return;
  const auto text = [](const DataLayout& layout) {
    return "samples " + ToString(layout.sample_shape) + " of " + std::to_string(layout.classes) +
           " classes";
  };
  throw ConfigError({.where = "data",
                     .required = "data as the network was trained on, " + text(trained),
                     .given = text(given),
                     .advice = "name other data by --set data.dataset=... or its files"});
}

// A list of devices names one for each layer of the network.
void CheckAssignments(const TrainingSetup& setup) {
  const auto& assignments = setup.config.memory.custom_device_assignments;
  if (!assignments || assignments->size() == setup.network->size()) return;
  throw ConfigError({.where = "memory.custom_device_assignments",
                     .required = "one device for each of the " +
                                 std::to_string(setup.network->size()) + " layers",
                     .given = std::to_string(assignments->size()) + " were given",
                     .advice = "list as many devices as there are [[model.layers]]"});
}

// The field has its range; the environment has none.
void CheckThreadCount() {
  if (ThreadCount() <= static_cast<int>(kMostThreads)) return;
  throw ConfigError(
      {.where = "training.threads",
       .required = "at most " + FormatCount(static_cast<std::int64_t>(kMostThreads)) + " threads",
       .given = "OMP_NUM_THREADS, or the program, asks for " + FormatCount(ThreadCount()),
       .advice = "set it, or training.threads, to the number of processors"});
}

// Processes are devices of one training.
void CheckProcesses(const RunConfig& config) {
  if (Launched() == nullptr || Launched()->ranks->size() == config.memory.num_devices) return;
  const std::string processes = std::to_string(Launched()->ranks->size());
  throw ConfigError({.where = "memory.num_devices",
                     .required = "each process that was started is one device",
                     .given = "num_devices = " + std::to_string(config.memory.num_devices) +
                              ", and " + processes + " processes were started",
                     .advice = "start as many, or use --set memory.num_devices=" + processes});
}

// Devices share what the processors of the program's affinity mask, or the environment, allow.
std::int64_t ThreadsOfDevice(const RunConfig& config) {
  const std::int64_t devices =
      Launched() != nullptr ? Launched()->sharing : config.memory.num_devices;
  if (config.training.threads > 0 || devices == 1) return config.training.threads;
  SetThreadCount(0);
  return std::max<std::int64_t>(1, ThreadCount() / devices);
}

TrainingSetup Prepare(const RunConfig& config, const DataLayout* custom_layout,
                      const InferenceSettings* inference = nullptr) {
  const bool has_dataset = !custom_layout || (inference && inference->evaluates);
  CheckConfig(config, !has_dataset);
  CheckProcesses(config);
  TrainingSetup setup;
  setup.config = config;
  if (has_dataset) setup.dataset = DatasetIn(config);
  setup.layout = has_dataset ? LayoutOf(*setup.dataset) : *custom_layout;
  setup.metadata = DescribeWeights(config, setup.layout, setup.dataset ? &*setup.dataset : nullptr);
  const bool compares = !inference || inference->evaluates;
  if (compares) CheckLossOfData(config, setup.layout);
  if (has_dataset && custom_layout) CheckSameData(*custom_layout, setup.layout);
  setup.schedule = inference ? InferenceScheduleOf(config, setup.layout, *inference)
                             : EpochScheduleOf(config, setup.layout);
  SetThreadCount(static_cast<int>(ThreadsOfDevice(config)));
  CheckThreadCount();
  setup.threads = ThreadCount();
  setup.backend = MakeBackend(config.training.backend, ProductsOf(config.training.precision));
  const LayerInput input = {setup.layout.BatchShape(setup.schedule.batch),
                            setup.layout.InputType(setup.dtype())};
  setup.network =
      BuildNetwork(config.model, input, *setup.backend, setup.dtype(), setup.layout.conditions);
  if (config.diffusion.kind != DiffusionKind::kNone) {
    setup.diffusion = std::make_unique<DiffusionProcess>(config.diffusion);
  }
  setup.inputs = ResolveInputs(*setup.network, setup.layout, setup.diffusion.get());
  setup.more_outputs =
      compares ? ResolveOutputs(*setup.network, setup.layout, config.loss, setup.diffusion.get())
               : setup.network->outputs();
  for (const NetworkOutput& output : setup.more_outputs) {
    CheckPartsOfOutput(config.sharding.data_parallel * MicroBatchesOf(config), output.name,
                       output.options.loss);
  }
  CheckAssignments(setup);
  setup.parameters = setup.network->Parameters();
  SetParameterGroups(config, setup.parameters);
  setup.optimizer =
      std::make_unique<Optimizer>(config.optimizer, config.schedule,
                                  config.training.clip_gradient_norm, setup.schedule.total_steps);
  return setup;
}

}  // namespace

std::vector<std::int64_t> FirstSamples(std::int64_t count) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), std::int64_t{0});
  return samples;
}

TrainingSetup PrepareTraining(const RunConfig& given, const DataLayout* custom_layout) {
  const RunConfig config = WithLossOfDiffusion(given);
  return WithPlaceIn(config, [&] { return Prepare(config, custom_layout); });
}

TrainingSetup PrepareInference(const RunConfig& given, const DataLayout& layout,
                               const InferenceSettings& settings) {
  const RunConfig config = WithLossOfDiffusion(given);
  return WithPlaceIn(config, [&] { return Prepare(config, &layout, &settings); });
}

namespace {

// Replicas are groups by themselves.
std::int64_t ReductionGroupsOf(const TrainingSetup& setup) {
  if (setup.config.sharding.data_parallel > 1) return 1;
  return setup.config.sharding.reduction_groups.value_or(1);
}

}  // namespace

StepParts StepPartsOf(const TrainingSetup& setup, const StepSettings& settings,
                      std::span<const std::int64_t> final_after,
                      std::span<const std::int64_t> summed_after) {
  return {.network = *setup.network,
          .parameters = setup.parameters,
          .loss = setup.config.loss,
          .layout = setup.layout,
          .inputs = setup.inputs,
          .more_outputs = setup.more_outputs,
          .diffusion = setup.diffusion.get(),
          .micro_batches = settings.micro_batches,
          .reduction_groups = ReductionGroupsOf(setup),
          .final_after = final_after,
          .summed_after = summed_after,
          .chunk_rows = settings.loss_chunk_rows.value_or(0),
          .on_divergence = setup.config.training.on_divergence,
          .reads = setup.stage ? setup.stage->reads : BatchParts(),
          .needs_outputs = !setup.config.training.metrics.empty()};
}

}  // namespace frugal
