#pragma once

#include <cstdint>

#include "builders/training_memory/layer_pass.h"

namespace frugal {

// Bytes of one forward and backward pass over a list of layers, beyond what the caller brings: the
// input, and the output's gradient in the output's element type.
struct PassBytes {
  std::int64_t kept = 0;  // between the two: what backward waits for, and the output
  std::int64_t peak = 0;  // at most, at any time from forward's begin to backward's end, with the
                          // output held until then
  bool operator==(const PassBytes&) const = default;
};

struct MemoryEstimate {
  std::int64_t parameter_bytes = 0;  // with what the backend packs for itself
  std::int64_t gradient_bytes = 0;   // of parameters
  PassBytes without_checkpointing{};
  PassBytes with_checkpointing{};

  std::int64_t SavedBytes() const;  // of the peak; 0 where checkpointing saves nothing
  double SavedFraction() const;     // of the peak without, in [0, 1)
};

// Holds what a list of n layers keeps whose outputs all have one size.
struct ActivationEstimate {
  std::int64_t without_checkpointing = 0;
  std::int64_t with_checkpointing = 0;

  std::int64_t SavedBytes() const;
  double SavedFraction() const;
};

// n layers, checkpointed every N, of A bytes: n A without, (ceil(n / N) + min(N, n)) A with
// checkpointing, i.e. every segment's input and one segment's activations (Chen et al.,
// arXiv:1604.06174, section 4.1). Throws UsageError for negative arguments and where a sum would
// not fit 64 bits.
ActivationEstimate EstimateActivations(std::int64_t layers, std::int64_t every_n,
                                       std::int64_t bytes);

// Describes what a dry pass is to look like.
struct DryPass {
  Backend& backend;
  DType dtype;
  bool training;
  VarTuple inputs;  // of which only shapes and element types are looked at
};
// Measures a pass over one input in an environment without storage: the bytes are exact, since it
// is the same code that runs.
MemoryEstimate EstimatePass(const DryPass& dry, const LayerChain& plain,
                            const LayerChain& checkpointed);
// Measures what each layer keeps for backward.
SavedBytes MeasureSavedBytes(const DryPass& dry, const LayerPointers& layers);

}  // namespace frugal
