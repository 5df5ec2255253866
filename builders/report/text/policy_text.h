#pragma once

#include <string>
#include <vector>

#include "builders/config/run_config.h"

namespace frugal {

// The memory policy in a few short phrases: checkpointing, where activations and weights live, how
// weights start.
std::vector<std::string> PolicyPhrases(const TrainingMemoryConfig& memory);

// Name of the preset that the memory policy starts from, with the file and line that name it; ""
// where none of its values comes from a preset.
std::string PresetOf(const RunConfig& config);

// {"adamw", "lr 0.001", "weight decay 0.01", "cosine schedule", "100 steps warm-up",
// "gradients clipped to norm 1"}
std::vector<std::string> OptimizerPhrases(const RunConfig& config);

// "oneDNN f32, 2 threads", and what FRUGAL_ISA takes away.
std::string ComputeText(const TrainingOptions& training);

}  // namespace frugal
