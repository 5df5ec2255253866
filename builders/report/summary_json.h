#pragma once

#include <string>

#include "builders/run_config.h"
#include "builders/training_result.h"
#include "sdk/plan/plan.h"

namespace frugal {

// A finished training for programs, as `frugal train --summary` writes it: an object with at least
// steps, seconds, losses, test_accuracy, planned_bytes, measured_bytes (by purpose, and `peak` of
// all together), allocations_after_warmup, peak_rss_bytes and weights_hash. Numbers read back as
// the same double; those that are not finite, and what was not measured, are null.
std::string SummaryJson(const RunConfig& config, const Plan& plan, const TrainingResult& result);

}  // namespace frugal
