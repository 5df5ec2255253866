#pragma once

#include <vector>

#include "builders/plan/planned_training.h"

namespace frugal {

// Devices of a mesh by their number, each with its planned training; those that come to the same
// may be one.
using DeviceList = std::vector<const PlannedTraining*>;

// Fills the plan of the whole with the sums over its devices; steps and holders are those of the
// device that takes most.
void SumUp(const DeviceList& devices, Plan& plan);

// Says what every device holds, does and sends in a step.
DevicesPlan Describe(const RunConfig& config, const DeviceList& devices);

}  // namespace frugal
