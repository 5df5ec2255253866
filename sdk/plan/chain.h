#pragma once

#include <cstdint>
#include <span>

#include "sdk/plan/checkpoint_segment.h"

namespace frugal {

// One stage of a chain, whose input is the output of the stage before it. Bytes are those that are
// live at once, without the stage's input, which whoever runs it holds.
struct ChainStage {
  double forward_seconds = 0;
  double backward_seconds = 0;
  std::int64_t output_bytes = 0;  // also those of the output's gradient
  std::int64_t kept_bytes = 0;    // kept for backward by a forward pass on a tape, output included
  std::int64_t forward_workspace = 0;   // beyond kept_bytes, in a forward pass on a tape
  std::int64_t plain_workspace = 0;     // beyond output_bytes, in a forward pass without a tape
  std::int64_t backward_workspace = 0;  // beyond kept_bytes and the output's gradient, in backward

  bool operator==(const ChainStage&) const = default;
};
using Chain = std::span<const ChainStage>;

// Time of all that a schedule runs, forward passes that come again included, and its peak, the
// input of the first stage left out.
struct ChainCost {
  double seconds = 0;
  std::int64_t peak_bytes = 0;
};

// What a training pass over the chain costs with these segments. The last stage's output is taken
// for the loss: its gradient is there throughout.
ChainCost Simulate(Chain chain, const CheckpointSegments& segments);

// The chain as one stage, with what Simulate says it takes as a whole: for grouping.
ChainStage Merge(Chain chain);

}  // namespace frugal
