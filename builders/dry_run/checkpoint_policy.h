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
  // While a run is computed again, blocks in it keep only their inputs in turn.
  bool nested_blocks = false;
  std::optional<std::int64_t> saved_bytes_threshold{};
};

CheckpointOptions CheckpointOptionsOf(const TrainingMemoryConfig& config);

// Bytes that each layer keeps for backward, by path; a layer's own and those of all inside it.
using SavedBytes = std::map<std::string, std::int64_t>;

// Cuts the network into checkpointed segments and says which layers run once:
// - a network is a chain of the layers that a plan lists: those of a list, the blocks of a
// published
//   model. Each run of N of them is a segment, which keeps only its input; a layer that keeps more
//   than the threshold is a run of its own;
// - inside a segment, attention layers and residual blocks (and blocks of predictors of several
//   inputs, which have residuals) run again only where the options say so. Else they run once: they
//   keep what their backward needs and what comes out of them. Attention that may run again inside
//   a block that may not is a segment of its own.
//   With nested_blocks, blocks that run again are segments inside the run.
// Without checkpointing there are no segments, and all layers run once.
void SetCheckpointSegments(Sequential& network, const CheckpointOptions& options,
                           const SavedBytes& kept);

// Returns the layers of that chain. A list that is alone in a network is the chain itself.
std::vector<Layer*> ChainLayers(Sequential& network);

// Returns the runs of N layers among these, as SetCheckpointSegments cuts them.
CheckpointSegments RunsOf(std::span<Layer* const> layers, const CheckpointOptions& options,
                          const SavedBytes& kept);
// Says which parts of the layers run once, and which are segments of their own.
void SetRecompute(std::span<Layer* const> layers, const CheckpointOptions& options);

// The numbers of segments by layer path, for plans: layers of segment 0, 1, ... in order.
std::map<std::string, int> SegmentNumbers(const Sequential& network);

}  // namespace frugal
