#pragma once

#include <cstdint>

#include "builders/setup/training_setup.h"

namespace frugal {

// Tells which of the StepSettings are free: nobody but a preset or the default has set them, and
// the training can do with another value. A loss that leaves out labels, norms over a batch and
// layers that mix samples need the batch in one piece, the last ones in evaluation too.
struct FreeKnobs {
  bool optimizer_in_backward = false;
  bool micro_batches = false;
  bool evaluation_batch = false;
  bool loss_chunk_rows = false;
  // Segments: any, or only those that the user's own fields make, or what the user said.
  enum class Segments : std::uint8_t { kAny, kPolicyOrNone, kAsStated } segments = Segments::kAny;
};
FreeKnobs FreeKnobsOf(const TrainingSetup& setup);

// Each returns true where its kind is among the layers: a batch norm that learns, or dropout.
bool HasBatchStatistics(const TrainingSetup& setup);
bool HasDropout(const TrainingSetup& setup);
// Returns true where there is a layer whose result for a sample depends on the others of its batch.
bool MixesSamples(const TrainingSetup& setup);

}  // namespace frugal
