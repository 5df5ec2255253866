#pragma once

#include <string>
#include <vector>

#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {

// Returns what planning says of a configuration that it refuses.
inline std::string PlanRefusal(const std::string& text,
                               const std::vector<std::string>& overrides = {}) {
  return MessageOf<Error>([&] { PlanTraining(ReadRunConfigText(text, "run.toml", overrides)); });
}

}  // namespace frugal::testing
