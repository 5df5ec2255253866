#pragma once

#include <cstdint>
#include <vector>

#include "sdk/plan/checkpoint_segment.h"

namespace frugal {

// One stage of a chain, whose input is the output of the stage before it. Bytes are those that are
// live at once, without the stage's input, which whoever runs it holds.
struct ChainStage {
  double forward_seconds = 0;
  double backward_seconds = 0;
  std::int64_t output_bytes = 0;  // also those of the output's gradient
  std::int64_t saved_bytes = 0;   // kept for backward by a forward pass on a tape, output included
  std::int64_t forward_workspace = 0;   // beyond saved_bytes, in a forward pass on a tape
  std::int64_t plain_workspace = 0;     // beyond output_bytes, in a forward pass without a tape
  std::int64_t backward_workspace = 0;  // beyond saved_bytes and the output's gradient, in backward
  // A forward pass that ends what runs again may take less: results that its own backward pass does
  // not need are not made. Of the last stage of all they are those of any forward pass.
  double ending_seconds = 0;
  std::int64_t ending_workspace = 0;
  // Counts what of saved_bytes is an output that is rematerialized from the others. It is free
  // while nothing runs that reads it: from the end of the forward pass of the stage or segment
  // behind it to that one's backward pass.
  std::int64_t rematerialized_bytes = 0;
  // At least rematerialized_bytes: of sums in a row some are kept, and which depends on where a
  // schedule has the row begin.
  std::int64_t most_rematerialized_bytes = 0;

  bool operator==(const ChainStage&) const = default;
};

// Returns what a stage that ran on a tape holds while nothing reads its output.
inline std::int64_t KeptBytes(const ChainStage& stage) {
  return stage.saved_bytes - stage.rematerialized_bytes;
}

// Describes what a stage's output holds for a stage behind the next one, a U-Net's skip: `bytes` of
// the output of `made` that the stages between hand on, until `taken` has read them. Its gradient
// takes as much, from the backward pass of `taken` to that of `made`.
struct SkipConnection {
  std::size_t made = 0;
  std::size_t taken = 0;  // at least made + 2
  std::int64_t bytes = 0;

  bool operator==(const SkipConnection&) const = default;
};

struct Chain {
  std::vector<ChainStage> stages;
  std::vector<SkipConnection> carried{};

  std::size_t size() const { return stages.size(); }
  bool operator==(const Chain&) const = default;
};

// Bytes of what a run of stages from `begin` on carries past stage i - 1, beside its output.
std::int64_t LiveSkipBytes(const std::vector<SkipConnection>& carried, std::size_t begin,
                           std::size_t i);

// Stages [begin, end) as a chain of their own. What is taken behind them is taken at their end;
// what was made before them is left out.
Chain PartOf(const Chain& chain, std::size_t begin, std::size_t end);

// Returns the chain with all outputs rematerialized that are so in any schedule: none takes less
// than by this one.
Chain WithMostRematerialized(Chain chain);

// Time of all that a schedule runs, forward passes that come again included, and its peak, the
// input of the first stage left out.
struct ChainCost {
  double seconds = 0;
  std::int64_t peak_bytes = 0;
};

// Returns what a training pass over the chain costs with these segments. The last stage's output is
// taken for the loss: its gradient is there throughout, as are those of values that are taken
// behind it.
ChainCost Simulate(const Chain& chain, const CheckpointSegments& segments);

// Returns the same where the peak is within so many bytes; else a peak that is above them, and any
// time.
ChainCost SimulateWithin(const Chain& chain, const CheckpointSegments& segments,
                         std::int64_t peak_bytes);

// The chain as one stage, with what Simulate says it takes as a whole: for grouping. Its output is
// all that goes on to stages behind it.
ChainStage Merge(const Chain& chain);

}  // namespace frugal
