#pragma once

#include <span>
#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/data/data_source.h"

namespace frugal {

// A batch as the data have it.
struct Batch {
  VarTuple inputs;  // the first, then DataLayout::conditions
  Tensor targets;
  std::vector<Tensor> more_targets{};  // as DataLayout::more_targets
  Tensor weights{};                    // [B], where DataLayout::sample_weights
};

// Says what of a batch a device reads.
struct BatchParts {
  bool inputs = true;
  bool targets = true;
};

// Reads those parts, and leaves others empty. Dry, `source` is not read.
Batch ReadBatch(Context& context, const DataLayout& layout, const BatchParts& parts,
                const DataSource* source, std::span<const std::int64_t> samples);

// Memory for a batch of DataLayout::more_targets.
std::vector<Tensor> AllocateMoreTargets(Context& context, const DataLayout& layout,
                                        std::int64_t count);

// Memory for the weights of its samples; empty where the data have none.
Tensor AllocateWeights(Context& context, const DataLayout& layout, std::int64_t count);

// Memory for a batch of a network's inputs, in the element types of data.
VarTuple AllocateInputs(Context& context, std::span<const NetworkInput> inputs, std::int64_t count);

// Values in the element type of activations; labels, tokens, times and numbers as they are.
void ToActivations(Context& context, std::span<const NetworkInput> inputs, VarTuple& vars);

}  // namespace frugal
