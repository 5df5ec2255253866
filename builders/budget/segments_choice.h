#pragma once

#include <optional>

#include "builders/setup/training_setup.h"
#include "sdk/plan/checkpoint_segment.h"
#include "sdk/plan/plan.h"

namespace frugal {

// The segments that checkpoint_planning found.
struct SegmentsChoice {
  StepSettings settings;
  // These are segments of the network's leaves, or none at all; nothing: the runs that the fields
  // make, of so many layers.
  std::optional<CheckpointSegments> segments;
  std::int64_t every_n_layers = 0;
  PlannedSegments plan;
};

// Finds segments as checkpoint_planning asks, among ways that change no bit:
// - Fastest: the fastest whose peak is no higher than that of the runs that the fields state;
// - LeastPeak: the fastest whose peak is no higher than that of runs of one, two or three layers
// and
//   within a fiftieth of the least that was found, with updates in the backward pass where nothing
//   clips. Runs that somebody stated himself, not by a preset, stay.
// Returns nothing where neither is asked for, a budget chooses, or the setup is one device's part
// of a pipeline.
std::optional<SegmentsChoice> ChooseSegments(const TrainingSetup& setup);

}  // namespace frugal
