#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/module/parameter_store.h"
#include "sdk/optim/optimizer_options.h"

namespace frugal {

// One parameter's update: what of it changes from step to step. Gradient, value and state, as far
// as the rule has any, are of one type (f32, or f64 with precision = "f64") and of the parameter's
// shape, but for narrow state.
struct UpdateCall {
  double rate = 0;  // by the schedule, and the parameter's factor
  double epsilon = 0;
  std::int64_t step = 1;        // from 1
  double scale = 1;             // multiplies the gradient first (clipping)
  bool first_step = false;      // of this parameter: its state is all zero
  std::uint64_t noise_key = 0;  // for the rounding of narrow state
  Tensor gradient;              // is only read
  std::array<Tensor, ParameterStore::kStateCount> state;
  Tensor value;
};

// An update rule: how a gradient moves a parameter. Parameters are updated each on its own, by
// threads of their own where several devices train, so a rule keeps nothing but its state tensors;
// these are planned, sharded and freed with all else.
struct OptimizerRule {
  static constexpr std::size_t kMostStates = 2;

  std::string name;      // "adamw"
  std::string doc = "";  // one sentence
  // The keys of [optimizer] that belong to some rules and to this one: momentum, nesterov, beta1,
  // beta2, alpha, rho, rate_decay, momentum_decay, eps. All rules read the others.
  std::vector<std::string> reads = {};
  double eps = 1e-8;  // where OptimizerOptions::eps is none
  // Returns how many state tensors a parameter has, from 0 to kMostStates. No function: none.
  std::function<std::size_t(const OptimizerOptions& options)> states = nullptr;
  bool narrow_state = false;  // `update` takes state in bf16 and 8 bits (sdk/backend/state_codec.h)
  OwnOptions options = {};    // the default ones, where the rule has any (OwnOptionsOf)
  // Updates value and state by kernels, or by loops of its own (ParallelFor of sdk/core/threads.h);
  // never called where there is no storage. weight_decay is 0 for parameters that are not to decay.
  std::function<void(Backend& backend, const OptimizerOptions& options, const UpdateCall& call)>
      update = nullptr;
};

}  // namespace frugal
