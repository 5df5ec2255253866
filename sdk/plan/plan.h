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
  // These are live at its peak: large tensors of one size in one place.
  std::vector<SimultaneousBuffers> side_by_side;
};

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
  std::optional<DevicesPlan> devices;   // where there are several

  const StepPlan* Find(StepKind kind, std::int64_t batch) const;
};

}  // namespace frugal
