#pragma once

#include <string>

#include "builders/plan/planned_training.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// Writes what is printed before anything is allocated: the model, its layers, the memory policy,
// the planned memory by purpose and what holds it at the peak, and the work of a step. Plain text
// in lines of at most 100 columns, apart from long names. With `machine`, a line tells the memory
// that there is, and whether the plan fits.
std::string PlanText(const PlannedTraining& planned, const SystemMemory* machine = nullptr);

}  // namespace frugal
