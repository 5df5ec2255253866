#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/core/memory_tag.h"
#include "sdk/plan/pipeline_schedule.h"
#include "sdk/plan/pipeline_simulation.h"
#include "sdk/plan/stage_traffic.h"

namespace frugal {

// Says what one of several devices holds and does in a step.
struct DevicePlan {
  std::int64_t replica = 0;
  std::int64_t stage = 0;
  std::string first_layer, last_layer;  // their paths
  std::int64_t layers = 0;
  std::int64_t parameters = 0;  // elements that it owns
  std::int64_t in_flight = 0;   // micro-batches whose activations it holds at most
  std::int64_t peak_bytes = 0;
  BytesByTag at_peak;
  double flops = 0;                  // of a training step
  StageTraffic sent;                 // in a training step
  std::int64_t page_file_bytes = 0;  // 0 where it has no page file
  // Everything that it takes at once, gaps of the arena included.
  std::int64_t needed_bytes = 0;
};

inline constexpr double kWorkUnit = 1e9;

// Says how a training spreads over several devices.
struct DevicesPlan {
  std::int64_t replicas = 1;
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;  // of each replica, in a step
  std::int64_t threads = 1;        // of each device
  std::vector<DevicePlan> devices;
  PipelineSchedule schedule;
  // The work of each stage for a micro-batch, in units of kWorkUnit operations, and a step of one
  // replica as simulated from it, of which only shares mean something.
  std::vector<StageSeconds> work;
  PipelineTimes times;
  // Kernels that each stage runs for a micro-batch.
  std::vector<double> launches;
  // Memory that the processes of this machine share to send to each other, beside the plans of the
  // devices; 0 where these are threads.
  std::int64_t link_bytes = 0;
};

// Tells where the time of a step goes that the devices of a replica do not work: the rest of them
// waits for the stage that has most to do, and all wait for the pipeline to fill and empty. The
// three add up to 1.
struct PipelineShares {
  double work = 1;
  double uneven = 0;
  double bubble = 0;
};
PipelineShares SharesOf(const PipelineTimes& times);

// Draws a step as lines of text, one for each stage, `columns` wide: digits are forward passes of
// micro-batch 0, 1, ... (the last digit of their numbers), letters a, b, ... backward passes,
// capitals gradients of weights where these are apart, and a point is waiting.
std::vector<std::string> PipelineChart(const PipelineSchedule& schedule, const PipelineTimes& times,
                                       std::size_t columns);

}  // namespace frugal
