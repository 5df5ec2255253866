#pragma once

#include <vector>

#include "sdk/plan/pipeline_schedule.h"

namespace frugal {

// Seconds of one micro-batch at one stage. Backward as a whole takes both gradients' time.
struct StageSeconds {
  double forward = 0;
  double input_gradient = 0;
  double weight_gradient = 0;
};

struct PipelineCosts {
  std::vector<StageSeconds> stages;
  double call = 0;  // of each slot beside its work
  double link = 0;  // from a stage's end until the next one may begin on what it sent
};

struct SlotTime {
  double begin = 0;
  double end = 0;
};

// Holds when each slot of each stage runs.
struct PipelineTimes {
  std::vector<std::vector<SlotTime>> slots;

  double Seconds() const;  // from the first slot's begin to the last one's end
  // Returns how long a stage waits between its first slot and its last.
  double BubbleOf(std::size_t stage) const;
  double Bubble() const;  // the longest of all stages
};

// Runs a schedule by its costs: a slot begins when the one before it at its stage has ended, and
// what it needs has come over the link. Throws UsageError where stages wait for each other.
PipelineTimes SimulatePipeline(const PipelineSchedule& schedule, const PipelineCosts& costs);

}  // namespace frugal
