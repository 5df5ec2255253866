#pragma once

#include <memory>
#include <vector>

#include "builders/config/dataset.h"
#include "builders/config/run_config.h"
#include "layers/sequential.h"
#include "sdk/plan/plan.h"
#include "sdk/train/step.h"

namespace frugal {

// How a training runs through its data.
struct TrainingProgram {
  std::int64_t train_samples = 0;  // of one epoch
  std::int64_t test_samples = 0;   // 0 = no evaluation
  std::int64_t batch = 0;
  std::int64_t evaluation_batch = 0;
  bool drop_last = true;
  std::int64_t steps_per_epoch = 0;
  std::int64_t total_steps = 0;
};

// Everything that is decided before memory is taken: the network with its sizes and checkpoint
// segments, the optimizer, and the plan of what it will all take.
struct Blueprint {
  RunConfig config;
  DataLayout layout;
  std::optional<DatasetDescription> dataset{};  // nothing where the program brings its own data
  TrainingProgram program;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<DiffusionProcess> diffusion{};  // null where the data have the targets
  std::unique_ptr<Sequential> network;
  NetworkInputs inputs{};  // of the network, with the data's shapes
  std::vector<Parameter*> parameters;
  std::unique_ptr<Optimizer> optimizer;
  Plan plan;
  // How often each parameter's gradient is added to in a training step, where parameters are
  // updated in the backward pass; else empty.
  std::vector<std::int64_t> final_after;

  bool updates_in_backward() const { return !final_after.empty(); }
  // Of activations; parameters are ExactType(dtype()).
  DType dtype() const { return DTypeOf(config.training.precision); }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(config.training.seed); }
  StepParts step_parts() const {
    return {*network,
            parameters,
            config.loss,
            layout,
            inputs,
            diffusion.get(),
            config.training.accumulate,
            final_after,
            config.training.loss_chunk_rows.value_or(0),
            config.training.on_divergence};
  }
};

// Checks the configuration and builds the network, with everything that is known before a plan is
// made. With `custom_layout` the program brings its own data; otherwise [data] describes it. Throws
// ConfigError or ShapeError.
Blueprint PrepareBlueprint(const RunConfig& config, const DataLayout* custom_layout = nullptr);

// Sample numbers 0 .. count - 1.
std::vector<std::int64_t> FirstSamples(std::int64_t count);

}  // namespace frugal
