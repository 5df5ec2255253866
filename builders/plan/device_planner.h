#pragma once

#include "builders/plan/planned_training.h"

namespace frugal {

// Plans a training on several devices: places the layers, prepares and plans each device's part,
// and sums the plans up. Throws ConfigError where the layers cannot be placed so, and MemoryError
// where a device would pass max_memory_per_device_mb.
PlannedTraining PlanDevices(TrainingSetup setup, PlanPurpose purpose);

}  // namespace frugal
