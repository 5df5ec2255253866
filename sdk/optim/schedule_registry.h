#pragma once

#include <string>

#include "sdk/core/registry.h"
#include "sdk/optim/schedule.h"

namespace frugal {

// A schedule by name, as files know it: [schedule] kind = "sawtooth".
struct ScheduleRow {
  std::string name;
  std::string doc = "";            // one sentence
  ScheduleFunction function = {};  // none: one of ours, whose ScheduleKind has the name
};

// Ours, and those that programs add: Schedules().Add({.name = "sawtooth", .doc = "...",
// .function = Sawtooth}), before configurations are read. Threads: as Registry.
Registry<ScheduleRow>& Schedules();

}  // namespace frugal
