#pragma once

#include <string>

#include "sdk/plan/devices_plan.h"

namespace frugal {

// Writes what each device holds, and a step of the pipeline as a chart.
std::string DevicesText(const DevicesPlan& plan);

// "2 replicas of 3 stages, 1 thread each; 1f1b with 4 micro-batches each"
std::string MeshText(const DevicesPlan& plan);

}  // namespace frugal
