#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builders/dry_run/trial.h"
#include "sdk/autograd/checkpoint.h"
#include "sdk/plan/chain.h"

namespace frugal {

// Counts what one pass over a stage does.
struct PassWork {
  double flops = 0;
  double bytes = 0;  // of all that it reads and writes, once each
};

// One of the variables that travel into a stage.
struct StageInput {
  Shape shape;
  DType dtype = DType::kF32;
  bool needs_gradient = false;
  bool is_skip = false;   // see PushSkip
  std::size_t maker = 0;  // the stage that it comes from
  // Sums in a row that it takes to rematerialize it (Remat::sums); nothing where it is kept.
  std::optional<int> rematerialized_sums{};
};

// A stage of the network's chain: one of its leaves, or the loss behind them (no layer).
struct Stage {
  Layer* layer = nullptr;
  bool up_to_projection = false;  // the loss takes over its last projection
  std::vector<StageInput> inputs;
  ChainStage chain;                   // its bytes; seconds are not known yet
  std::vector<SkipConnection> taken;  // of what was put is_skip
  PassWork forward;
  PassWork ending;  // forward, where the stage ends what runs again
  PassWork backward;
};

// The chain of the setup's network, for the largest part of a batch that goes through at a
// time: its leaves (a residual or another layer with branches is one stage) and the loss. Bytes are
// those of a dry run of each, forward and back, by itself.
std::vector<Stage> MeasureStages(const TrainingSetup& setup, const Trial& trial);

// Runs a stage on the variables that travel into it: its layer, or the loss on targets of zeros.
// The result refers to all three.
TupleSegment RunOf(const TrainingSetup& setup, const Trial& trial, const Stage& stage);

Chain ChainOf(const std::vector<Stage>& stages);

}  // namespace frugal
