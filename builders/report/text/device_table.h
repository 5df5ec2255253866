#pragma once

#include <string>

#include "sdk/plan/devices_plan.h"
#include "sdk/plan/mesh_prediction.h"

namespace frugal {

// Writes what each device holds, and a step of the pipeline as a chart.
std::string DevicesText(const DevicesPlan& plan);

// "2 replicas of 3 stages, 1 thread each; 1f1b with 4 micro-batches each"
std::string MeshText(const DevicesPlan& plan);

// The chart of a step that ran, slot for slot as the plan's; empty where the plan has none.
std::string MeasuredChartText(const DevicesPlan& plan, const PipelineTimes& times);
// "At 100 GFLOP/s a device ... a step takes 0.123 s: ..."
std::string PredictionText(const DevicesPlan& plan, const MeshSpeed& speed);
// Everything that is known of one rank before it starts.
std::string RankText(const DevicesPlan& plan, std::size_t rank, const MeshSpeed& speed);

}  // namespace frugal
