#pragma once

#include <array>

#include "sdk/module/parameter_store.h"
#include "sdk/optim/optimizer_options.h"

namespace frugal {

// One parameter's update: what of it changes from step to step.
struct UpdateCall {
  double rate = 0;
  double epsilon = 0;
  std::int64_t step = 1;  // from 1
  double scale = 1;       // of the gradient
  bool first_step = false;
  std::uint64_t noise_key = 0;  // for the rounding of narrow state
  Tensor gradient;
  std::array<Tensor, ParameterStore::kStateCount> state;
  Tensor value;
};

// Calls the kernel of the options' kind.
void RunUpdate(Backend& backend, const OptimizerOptions& options, const UpdateCall& call);

}  // namespace frugal
