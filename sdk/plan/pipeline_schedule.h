#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace frugal {

// Names what a stage of a pipeline does with one micro-batch. A schedule either keeps backward
// whole, or splits it: into the gradient of the stage's input, which the stage before waits for,
// and those of its weights, which nobody waits for.
enum class SlotKind : std::uint8_t { kForward, kBackward, kInputGradient, kWeightGradient };

struct PipelineSlot {
  SlotKind kind = SlotKind::kForward;
  std::int64_t micro_batch = 0;

  bool operator==(const PipelineSlot&) const = default;
};

enum class PipelineKind : std::uint8_t {
  kSequential,   // one micro-batch after the other: while one stage works, the others wait
  kGPipe,        // all forward, then all backward (arXiv 1811.06965)
  k1F1B,         // backward as soon as it can be (arXiv 1806.03377, 2006.09503)
  kZeroBubble1,  // ZB-H1: weight gradients fill the bubble within the memory of 1F1B (2401.10241)
  kZeroBubble2,  // ZB-H2: no bubble but at the beginning, within twice that memory
};
std::string_view NameOf(PipelineKind kind);  // "sequential", "gpipe", ...
// True where gradients of weights are made apart from those of inputs.
bool SplitsBackward(PipelineKind kind);

// Lists what each stage does, in its order. Every micro-batch runs forward and backward once at
// each stage, and backward runs in the order 0, 1, ... of micro-batches under every kind, so that
// gradients add up in one order.
struct PipelineSchedule {
  PipelineKind kind = PipelineKind::kGPipe;
  std::int64_t micro_batches = 0;
  std::vector<std::vector<PipelineSlot>> stages;
};
PipelineSchedule MakePipelineSchedule(PipelineKind kind, std::int64_t stages,
                                      std::int64_t micro_batches);

// Returns how many micro-batches a stage holds activations of at most: those whose forward pass ran
// and whose last gradient did not.
std::int64_t MostInFlight(const std::vector<PipelineSlot>& stage);

}  // namespace frugal
