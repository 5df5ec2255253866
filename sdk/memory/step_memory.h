#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdk/core/operation_kind.h"
#include "sdk/core/tensor_form.h"
#include "sdk/memory/arena_layout.h"
#include "sdk/memory/trace.h"

namespace frugal {

// An operation as a report names it.
struct NamedOperation {
  std::string layer;
  OperationKind kind = OperationKind::kCopy;
  bool backward = false;
  bool recomputed = false;  // it ran again for a backward pass

  bool operator==(const NamedOperation&) const = default;
};
// "blocks.0.attention: matmul", "...: matmul, backward", "...: norm, again"
std::string Describe(const NamedOperation& operation);

// A block of memory that is live at a step's peak.
struct HeldBlock {
  std::string holder;  // a layer's or parameter's path, "batch", "loss", ...
  MemoryTag tag = MemoryTag::kActivation;
  std::int64_t bytes = 0;
  std::optional<TensorForm> form{};             // of a tensor whose form is known
  bool before_step = false;                     // it was there before the step
  std::optional<NamedOperation> made_by{};      // the operation that first ran with it
  std::optional<NamedOperation> last_needed{};  // the one behind which it was given back
};

// A kernel call of a step, in the order in which they ran.
struct StepOperation {
  NamedOperation name;
  std::int64_t event = 0;  // of the step's timeline, before which it ran
  double flops = 0;
  double bytes = 0;
  double begin = 0;  // seconds since the step's first operation; 0 where it was planned
  double seconds = 0;
  std::int64_t live_bytes = 0;  // while it ran
};

// A block of the step's arena over its life: a rectangle of events and addresses.
struct PlacedBlock {
  std::string holder;
  MemoryTag tag = MemoryTag::kActivation;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
  std::int64_t begin = 0;  // events [begin, end)
  std::int64_t end = 0;
  std::optional<TensorForm> form{};
};

// Everything about the memory of one step, of a dry run or of a real one: what is live at the
// instant of its peak, block by block, and how it came there.
struct StepMemory {
  BytesByTag baseline;      // live before the step
  MemoryTimeline timeline;  // of what the step takes and gives back
  std::int64_t peak_bytes = 0;
  BytesByTag at_peak;
  std::vector<HeldBlock> blocks{};  // that make up the peak, largest first
  std::int64_t end_bytes = 0;       // live behind the step
  std::vector<StepOperation> operations{};
  std::int64_t arena_bytes = 0;  // of its layout, and what no layout could go below
  std::int64_t arena_lower_bound_bytes = 0;
  std::vector<PlacedBlock> placed{};  // the largest ones of the arena
};

// Makes it of a detailed trace of the step, and of the blocks that were live before it. The sum of
// its blocks is its peak.
StepMemory StepMemoryOf(const MemoryTrace& trace, const LabelTable& labels,
                        const std::vector<Holder>& before);

// Adds where the layout of the step's arena has its blocks: the `most` of them that take the most
// bytes for the longest time.
void AddPlacement(const MemoryTrace& trace, const LabelTable& labels, const ArenaLayout& layout,
                  std::size_t most, StepMemory& memory);

// Bytes of the peak by something that its blocks have in common, most first.
struct MemoryShare {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::int64_t layers = 0;  // that hold them
};
// By the kind of the operation that made a block ("matmul", "norm", ...); what was there before the
// step goes by its purpose ("parameter").
std::vector<MemoryShare> SharesByKind(const StepMemory& memory);
// By layer, whose parameters it holds too; "batch", "loss" and other holders that are no layers
// beside them.
std::vector<MemoryShare> SharesByLayer(const StepMemory& memory);

}  // namespace frugal
