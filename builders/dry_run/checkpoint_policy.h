#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "layers/sequential.h"
#include "presets/training_memory_config.h"

namespace frugal {

// Holds what the policy takes from a TrainingMemoryConfig.
struct CheckpointOptions {
  bool enabled = false;
  std::int64_t every_n_layers = 2;
  bool attention_layers = true;
  bool residual_blocks = true;
  std::optional<std::int64_t> saved_bytes_threshold;
};

CheckpointOptions CheckpointOptionsOf(const TrainingMemoryConfig& config);

// Bytes that each layer keeps for backward, by path; a layer's own and those of all inside it.
using SavedBytes = std::map<std::string, std::int64_t>;

// Cuts the network into checkpointed segments and sets them on its Sequentials:
// - a layer that is attention or a residual block (where the options say so; a block of a predictor
//   of several inputs counts as either), at whatever depth, or that keeps more than the threshold,
//   is a segment of its own and splits the run it lies in; where one such layer lies inside
//   another, the outer one counts, so nothing runs three times;
// - of what lies between, each run of N layers is one segment; a layer that holds a segment inside
//   is entered instead, and its own lists are cut the same way.
// Where checkpointing is off, all segments are removed.
void SetCheckpointSegments(Sequential& network, const CheckpointOptions& options,
                           const SavedBytes& kept);

// Segments of layers that are taken as they are: the same rules, but no layer is entered.
CheckpointSegments SegmentsOf(std::span<Layer* const> layers, const CheckpointOptions& options,
                              const SavedBytes& kept);

// The numbers of segments by layer path, for plans: layers of segment 0, 1, ... in order.
std::map<std::string, int> SegmentNumbers(const Sequential& network);

}  // namespace frugal
