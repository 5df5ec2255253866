#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdk/core/shape.h"
#include "sdk/memory/arena_layout.h"
#include "sdk/memory/simultaneous_buffers.h"
#include "sdk/memory/trace.h"
#include "sdk/plan/budget_plan.h"
#include "sdk/plan/data_exchange.h"
#include "sdk/plan/devices_plan.h"
#include "sdk/plan/paging_plan.h"
#include "sdk/tensor/tensor_pager.h"

namespace frugal {

enum class StepKind : std::uint8_t { kTrain, kEvaluate, kPredict, kCount };
std::string_view NameOf(StepKind kind);  // "train", "evaluate", "predict"

// One kind of step at one batch size, as a dry run of it showed.
struct StepPlan {
  StepKind kind = StepKind::kTrain;
  std::int64_t batch = 0;
  ArenaLayout layout;
  double flops = 0;
  double recomputed_flops = 0;  // part of flops that checkpointing runs a second time
  std::int64_t launches = 0;    // kernels that it runs
  // Live before the step (weights, gradients, optimizer state, data sets), by purpose.
  BytesByTag baseline;
  MemoryTimeline timeline;  // of what the step itself takes and gives back
  // A device does these with its replicas in it.
  std::vector<DataExchange> exchanges;
  PagingTraffic paged;  // in the step
  // These are live at its peak: large tensors of one size in one place.
  std::vector<SimultaneousBuffers> side_by_side;
};

// The most that is live during a step, with what was live before it.
std::int64_t PeakBytesOf(const StepPlan& step);
BytesByTag BytesAtPeakOf(const StepPlan& step);

// Returns what a step holds at its peak, largest first; what was live before it counts as one
// holder for each purpose ("all parameter").
std::vector<Holder> HoldersOf(const StepPlan& step);

// Checkpointed segments number first, first + 1, ...
struct SegmentRange {
  int first = 0;
  int count = 0;
};

struct LayerPlan {
  std::string path;
  std::string description;
  Shape output;  // with the training batch
  std::int64_t parameters = 0;
  std::int64_t saved_bytes = 0;   // what it keeps for backward when it is not checkpointed
  int segment = -1;               // number of the checkpointed segment that it is in; -1 = none
  SegmentRange inner_segments{};  // those inside it
};

// Returns true where a layer, or a part of it, is in a checkpointed segment.
inline bool IsCheckpointed(const LayerPlan& layer) {
  return layer.segment >= 0 || layer.inner_segments.count > 0;
}

// Runs of so many layers that keep only their inputs, and the peak of that way to train.
struct RunsOfLayers {
  std::int64_t every_n_layers = 0;
  std::int64_t peak_bytes = 0;
};

// Says what runs again inside the runs, where what the configuration allows would not lower the
// peak or, without segments inside, not do so.
struct KindsPlan {
  bool attention_layers = true;
  bool residual_blocks = true;
  bool nested_blocks = false;  // blocks keep only their inputs while a run is computed again
};

// Says what the planner chose instead of the runs of layers that the configuration states.
struct PlannedSegments {
  std::int64_t stated_peak_bytes = 0;  // of those runs
  std::int64_t segments = 0;           // of the network's chain, where there are no runs
  std::int64_t stages = 0;             // of the chain that are in segments
  std::int64_t every_n_layers = 0;     // of runs; 0: segments of any length, or none
  bool updates_in_backward = false;    // chosen too
};

// Says what a training will take, known before anything of it is allocated. It is data only.
struct Plan {
  std::int64_t parameter_count = 0;  // elements, buffers left out
  std::int64_t trainable_count = 0;
  std::int64_t total_steps = 0;

  BytesByTag peak_by_purpose;   // the largest live bytes of each purpose on its own
  std::int64_t peak_bytes = 0;  // the largest live bytes of all together
  BytesByTag at_peak;           // what makes up peak_bytes

  // One range that holds all steps; what no layout could go below; what stays between steps.
  std::int64_t arena_bytes = 0;
  std::int64_t live_lower_bound_bytes = 0;
  std::int64_t arena_kept_bytes = 0;

  std::vector<StepPlan> steps;
  std::vector<LayerPlan> layers;
  // How often each parameter's gradient is added to in a training step, where parameters are
  // updated in the backward pass; else empty.
  std::vector<std::int64_t> final_after;
  // These are there where replicas sum gradients.
  std::vector<std::int64_t> summed_after;
  std::vector<Holder> largest_holders;  // at the peak of a training step
  std::optional<BudgetPlan> budget;     // where there is one
  std::optional<PagingPlan> paging;     // where there is a page file
  std::optional<DevicesPlan> devices;   // where there are several
  // The runs of the least peak, where checkpointing goes by runs of layers and others are less.
  std::optional<RunsOfLayers> least_runs;
  std::optional<KindsPlan> kinds;                   // where they are not as stated
  std::optional<PlannedSegments> planned_segments;  // where the planner was to find them

  const StepPlan* Find(StepKind kind, std::int64_t batch) const;
};

}  // namespace frugal
