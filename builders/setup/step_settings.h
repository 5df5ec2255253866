#pragma once

#include "builders/config/run_config.h"
#include "sdk/plan/step_settings.h"

namespace frugal {

StepSettings SettingsOf(const RunConfig& config);

// Returns the configuration with these settings in force; what they change is noted as chosen by
// the planner.
RunConfig WithSettings(RunConfig config, const StepSettings& settings);

}  // namespace frugal
