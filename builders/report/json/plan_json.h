#pragma once

#include <string>

#include "builders/plan/planned_training.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// The plan for programs, as `frugal plan --json` prints it: an object with at least parameters,
// peak_bytes, bytes_by_purpose, arena_bytes and live_lower_bound_bytes. Bytes are exact.
// With `machine`, "machine" tells the memory that there is, and whether the plan fits.
std::string PlanJson(const PlannedTraining& planned, const SystemMemory* machine = nullptr);

}  // namespace frugal
