#pragma once

#include "builders/plan/needed_bytes.h"
#include "builders/plan/planned_training.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// True where a plan fits what is free on this machine now, or nothing is known of that.
bool FitsMachine(const PlannedTraining& planned, const SystemMemory& machine);

// Throws MemoryError where the plan does not fit what is free now: says what takes most of it and
// what would make it fit, which it finds by planning that.
void RequireMachineMemory(const PlannedTraining& planned, const SystemMemory& machine);

}  // namespace frugal
