#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"
#include "sdk/module/layer.h"
#include "sdk/plan/chain.h"

namespace frugal {

// Counts what one pass over a stage does.
struct PassWork {
  double flops = 0;
  double bytes = 0;  // of all that it reads and writes, once each
};

// A way in which an input of a stage is rematerialized.
struct RowBefore {
  int sums = 0;            // in a row that it takes (Remat::sums)
  std::int64_t bytes = 0;  // of the others, which are made for it
  // The backward pass of the stage that it comes from reads it too, so that it stays until then.
  bool is_read_by_maker = false;

  bool operator==(const RowBefore&) const = default;
};

// One of the variables that travel into a stage.
struct StageInput {
  Shape shape;
  DType dtype = DType::kF32;
  bool needs_gradient = false;
  bool is_skip = false;   // see PushSkip
  std::size_t maker = 0;  // the stage that it comes from
  // Where no segment is before it; nothing where it is kept.
  std::optional<RowBefore> row{};
  // Nothing holds it but the stage that it goes into: the stage before made it for that alone.
  bool is_last_held = false;
};

// A stage of the network's chain: one of its leaves, or the loss behind them (no layer).
struct Stage {
  Layer* layer = nullptr;
  bool up_to_projection = false;  // the loss takes over its last projection
  bool reads_input = false;       // its backward pass reads a first input that is in a row
  bool hands_on = false;          // its first output is its first input
  std::vector<StageInput> inputs;
  std::vector<RowBefore> rows;        // of the first input, in any schedule: RematState 1, 2, ...
  ChainStage chain;                   // its bytes; seconds are not known yet
  std::vector<SkipConnection> taken;  // of what was put is_skip
  std::int64_t target_bytes = 0;      // of the loss: they are there from the step's beginning
  PassWork forward;
  PassWork ending;  // forward, where the stage ends what runs again
  PassWork backward;
};

}  // namespace frugal
