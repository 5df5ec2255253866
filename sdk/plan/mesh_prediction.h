#pragma once

#include <string_view>
#include <vector>

#include "sdk/plan/devices_plan.h"

namespace frugal {

// Says how fast the devices of a mesh and the links between them are.
struct MeshSpeed {
  double flops = 100e9;    // operations per second of a device
  double bytes = 10e9;     // bytes per second over a link
  double latency = 20e-6;  // seconds until a message of no bytes has arrived
  double call = 5e-6;      // seconds that a kernel takes beside its operations
};

// Predicts a step: the pipeline as simulated, then what ranks sum up over the mesh.
struct MeshPrediction {
  std::vector<double> work;      // seconds that each device computes
  std::vector<double> exchange;  // seconds that its sums with others take
  double pipeline = 0;           // seconds from the first slot to the last one
  double step = 0;               // the pipeline and the longest exchange
  PipelineShares shares;         // of the pipeline's time
  double calls = 0;              // the share of that work which is the cost of calls
  // The largest part: "work", "calls", "the slowest stage", "the bubble" or "traffic".
  std::string_view bound_by;
};
MeshPrediction PredictStep(const DevicesPlan& plan, const MeshSpeed& speed);

}  // namespace frugal
