#pragma once

#include <optional>
#include <string>

#include "sdk/io/weights/weight_source.h"
#include "sdk/module/parameter.h"

namespace frugal {

// The tensor of a file that holds a parameter: of its path, of another path of the same tensor
// (tied weights), or of one of these with the base model's name left out or put in front, as public
// checkpoints of the same model differ ("h.0.ln_1.weight", "transformer.h.0.ln_1.weight"). Null
// where there is none.
const StoredTensor* FindCheckpointKey(const WeightSource& file, const Parameter& parameter);

// Tensors that public checkpoints carry and nothing learned is in: counters of batch norms, masks,
// position numbers, rotary frequencies.
bool HoldsNothingLearned(const StoredTensor& stored);

}  // namespace frugal
