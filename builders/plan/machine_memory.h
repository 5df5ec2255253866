#pragma once

#include "builders/plan/planned_training.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// Bytes that the process takes for tensors at most under a plan: what lives outside steps, and the
// arena with the gaps of its layout; without an arena, the peak.
std::int64_t NeededBytes(const PlannedTraining& planned);

// True where a plan fits what is free on this machine now, or nothing is known of that.
bool FitsMachine(const PlannedTraining& planned, const SystemMemory& machine);

// Throws MemoryError where the plan does not fit what is free now: says what takes most of it and
// what would make it fit, which it finds by planning that.
void RequireMachineMemory(const PlannedTraining& planned, const SystemMemory& machine);

}  // namespace frugal
