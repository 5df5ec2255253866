#pragma once

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"

namespace frugal {

// Tells how a training's devices are arranged: `data` replicas of the network, each a pipeline of
// `pipeline` stages. Device number d is stage d % pipeline of replica d / pipeline.
struct DeviceMesh {
  std::int64_t data = 1;
  std::int64_t pipeline = 1;

  std::int64_t devices() const { return data * pipeline; }
};
DeviceMesh MeshOf(const RunConfig& config);

// The micro-batches that each replica runs in a step.
std::int64_t MicroBatchesOf(const RunConfig& config);

// Returns the order of micro-batches at all stages.
PipelineSchedule ScheduleOf(const RunConfig& config);

// Finds fields of a training on several devices that do not fit each other.
void CheckShardingRules(const RunConfig& config, Diagnostics& diagnostics);

}  // namespace frugal
