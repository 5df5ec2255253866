#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "builders/config/dataset.h"
#include "builders/config/run_config.h"
#include "builders/setup/stage_setup.h"
#include "builders/setup/step_settings.h"
#include "layers/sequential.h"
#include "sdk/io/weights/stored_tensor.h"
#include "sdk/train/step.h"

namespace frugal {

// Tells how a training runs through its data.
struct EpochSchedule {
  std::int64_t train_samples = 0;  // of one epoch
  std::int64_t test_samples = 0;   // 0 = no evaluation of them
  // Evaluations during the training look at these, where there are any, and at the test part once,
  // behind it.
  std::int64_t validation_samples = 0;
  std::int64_t batch = 0;
  std::int64_t evaluation_batch = 0;
  bool drop_last = true;
  std::int64_t steps_per_epoch = 0;
  std::int64_t total_steps = 0;
  // > 0: nothing is trained; predictions go through in batches of at most so many samples.
  std::int64_t predict_batch = 0;

  bool evaluates() const { return test_samples + validation_samples > 0; }
  bool operator==(const EpochSchedule&) const = default;
};

// Says what a model that is made for inference is to do.
struct InferenceSettings {
  std::int64_t batch = 0;  // samples of a prediction that go through at a time
  bool evaluates = false;  // on the test part of [data]
};

// Holds what is given: everything that is known of a training before it is planned. Nothing of it
// changes once it is prepared; only the network's checkpointed segments do while ways to train are
// tried.
struct TrainingSetup {
  RunConfig config;
  DataLayout layout;
  std::optional<DatasetDescription> dataset{};  // nothing where the program brings its own data
  EpochSchedule schedule;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<DiffusionProcess> diffusion{};  // null where the data have the targets
  std::unique_ptr<Sequential> network;
  NetworkInputs inputs{};         // of the network, with the data's shapes
  NetworkOutputs more_outputs{};  // that it makes beside its first one
  std::vector<Parameter*> parameters;
  std::unique_ptr<Optimizer> optimizer;
  // This is there where the setup is that of one of several devices: then the network is its part.
  std::unique_ptr<StageSetup> stage{};
  int threads = 0;  // of kernels, which plans go by; 0: as many as the calling thread has set
  WeightMetadata metadata{};  // of its weight files, which describes the network

  // Returns the type of activations; parameters are MasterType(dtype()).
  DType dtype() const { return DTypeOf(config.training.precision); }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(config.training.seed); }
  // False for a model that was made for inference: it has no gradients and no optimizer's state.
  bool trains() const { return schedule.predict_batch == 0; }
};

// Checks the configuration and builds the network. With `custom_layout` the program brings its own
// data; otherwise [data] describes it. Throws ConfigError or ShapeError.
TrainingSetup PrepareTraining(const RunConfig& config, const DataLayout* custom_layout = nullptr);

// Prepares a network for inference on inputs of this layout, whose counts do not matter. Where it
// evaluates, [data] describes the test part. Throws ConfigError or ShapeError.
TrainingSetup PrepareInference(const RunConfig& config, const DataLayout& layout,
                               const InferenceSettings& settings);

// Returns what a step is run with. The counts of contributions are as in Plan; they and the setup
// must outlive the result.
StepParts StepPartsOf(const TrainingSetup& setup, const StepSettings& settings,
                      std::span<const std::int64_t> final_after,
                      std::span<const std::int64_t> summed_after = {});

// Sample numbers 0 .. count - 1.
std::vector<std::int64_t> FirstSamples(std::int64_t count);

}  // namespace frugal
