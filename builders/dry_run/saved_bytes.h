#pragma once

#include <optional>
#include <vector>

#include "builders/dry_run/checkpoint_policy.h"
#include "builders/dry_run/trial.h"

namespace frugal {

// Returns what of the step's memory is still live at the end of a recording, by label.
SavedBytes SavedBytesIn(const MemoryTrace& trace, const LabelTable& labels);

// Measures what each layer keeps for backward: what it took in a forward pass that is still live at
// its end.
SavedBytes MeasureSavedBytes(const TrainingSetup& setup, const Trial& trial);

// Holds what forward passes of the network without segments show of its layers.
struct LayerPasses {
  SavedBytes saved;            // as MeasureSavedBytes; of a training alone
  std::vector<Shape> outputs;  // the first of each layer
};
LayerPasses RunLayerPasses(const TrainingSetup& setup, const Trial& trial);

// Cuts the network as the fields of the configuration say, or other options in their place, where
// the settings use checkpointing; else removes all segments, and `kept` is not looked at.
void SetPolicySegments(const TrainingSetup& setup, const StepSettings& settings,
                       const SavedBytes& kept,
                       const std::optional<CheckpointOptions>& other = std::nullopt);

}  // namespace frugal
