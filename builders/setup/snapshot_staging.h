#pragma once

#include "builders/setup/training_setup.h"

namespace frugal {

// Plans call by this what holds the copies.
inline constexpr const char* kStagingLabel = "snapshot";

// Says whether this device is the one whose state of the parameter goes into snapshots: where
// replicas all have it, that of the first.
bool WritesStateOf(const TrainingSetup& setup, const Parameter& parameter);

// Says whether training changes the parameter's value, so that a snapshot that is written beside
// the next steps may need a copy of it.
bool Changes(const Parameter& parameter);

// Says whether snapshots are written beside the next steps. What is in a page file is not there to
// be copied when it changes, so that training waits for snapshots of it.
bool StagesSnapshots(const RunConfig& config);

// Bytes of the room for copies of this device's part of a snapshot: a step that changes what has
// not been written yet copies it there first, all of it at worst. 0 where snapshots are written
// from the state itself, or not at all.
std::int64_t StagingBytesOf(const TrainingSetup& setup);

// Bytes of the copies of this device's buffers (running statistics) from before a step, by which a
// step that fails is taken back before a snapshot is saved; 0 where none would be.
std::int64_t KeptBufferBytesOf(const TrainingSetup& setup);

}  // namespace frugal
