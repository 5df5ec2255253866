#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sdk/plan/checkpoint_segment.h"

namespace frugal {

// Says how a variable is held for the stage behind it: 0 where it is kept, else the number, from 1
// on, of the way in which it is rematerialized. Of sums in a row some are kept, and which depends
// on where a schedule has the row begin: behind a segment, or inside one, it begins anew.
using RematState = std::size_t;

// Holds what a pass on a tape takes. See ChainStage.
struct TapedBytes {
  std::int64_t saved_bytes = 0;
  std::int64_t forward_workspace = 0;
  std::int64_t backward_workspace = 0;
  std::int64_t ending_workspace = 0;
  std::int64_t ending_backward_workspace = 0;
  std::int64_t rematerialized_bytes = 0;
  std::int64_t row_bytes = 0;
  RematState output_state = 0;

  bool operator==(const TapedBytes&) const = default;
};

// One stage of a chain, whose input is the output of the stage before it. Bytes are those that are
// live at once, without the stage's input, which whoever runs it holds.
struct ChainStage {
  double forward_seconds = 0;
  double backward_seconds = 0;
  std::int64_t output_bytes = 0;  // also those of the output's gradient
  // Kept for backward by a forward pass on a tape, output included. Where that frees the input,
  // which is counted with the stage before, it is so much less, and may be less than none.
  std::int64_t saved_bytes = 0;
  std::int64_t forward_workspace = 0;  // beyond saved_bytes, in a forward pass on a tape
  std::int64_t plain_workspace = 0;    // beyond output_bytes, in a forward pass without a tape
  // Beyond KeptBytes and the output's gradient, in backward; less than none where some of these are
  // free by then. An input that is rematerialized for it is among that.
  std::int64_t backward_workspace = 0;
  // A forward pass that ends what runs again may take less: results that its own backward pass does
  // not need are not made. Of the last stage of all they are those of any forward pass.
  double ending_seconds = 0;
  std::int64_t ending_workspace = 0;
  // As backward_workspace, but nothing behind the stage has had its output made again: where its
  // own backward pass reads that, it does so itself.
  std::int64_t ending_backward_workspace = 0;
  // Counts what of saved_bytes is an output that is rematerialized from the others. It is free
  // while nothing runs that reads it: from the end of the forward pass of the stage or segment
  // behind it to that one's backward pass.
  std::int64_t rematerialized_bytes = 0;
  // With the sums before it in its row, which are made for it and stay until their own stages have
  // had them. Where this is less than the output alone, there are none.
  std::int64_t row_bytes = 0;
  RematState output_state = 0;  // where it is rematerialized, 1 at least
  // The bytes where its input is in state 1, 2 and so on; where there are none, they are the same.
  std::vector<TapedBytes> by_input_state{};

  bool operator==(const ChainStage&) const = default;
};

inline TapedBytes TapedBytesOf(const ChainStage& stage, RematState input) {
  if (input > 0 && !stage.by_input_state.empty()) {
    return stage.by_input_state[std::min(input, stage.by_input_state.size()) - 1];
  }
  return {stage.saved_bytes,
          stage.forward_workspace,
          stage.backward_workspace,
          stage.ending_workspace,
          stage.ending_backward_workspace,
          stage.rematerialized_bytes,
          stage.row_bytes,
          stage.output_state};
}

inline RematState OutputState(const TapedBytes& taped) {
  return std::max<RematState>(taped.output_state, taped.rematerialized_bytes > 0 ? 1 : 0);
}

// Returns what is there of the output, and for it, while a segment behind it runs again.
inline std::int64_t RowBytes(const TapedBytes& taped) {
  return std::max(taped.row_bytes, taped.rematerialized_bytes);
}

// Returns what a stage that ran on a tape holds while nothing reads its output.
inline std::int64_t KeptBytes(const TapedBytes& taped) {
  return taped.saved_bytes - taped.rematerialized_bytes;
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
  // These are there from the start for the last stage, which counts them among its own bytes.
  std::int64_t waiting_bytes = 0;

  std::size_t size() const { return stages.size(); }
  bool operator==(const Chain&) const = default;
};

// Bytes of what a run of stages from `begin` on carries past stage i - 1, beside its output.
std::int64_t LiveSkipBytes(const std::vector<SkipConnection>& carried, std::size_t begin,
                           std::size_t i);

// Stages [begin, end) as a chain of their own. What is taken behind them is taken at their end;
// what was made before them is left out, as is what waits.
Chain PartOf(const Chain& chain, std::size_t begin, std::size_t end);

// Time of all that a schedule runs, forward passes that come again included, and its peak, the
// input of the first stage left out.
struct ChainCost {
  double seconds = 0;
  std::int64_t peak_bytes = 0;

  bool operator==(const ChainCost&) const = default;
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
