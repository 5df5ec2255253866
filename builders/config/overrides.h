#pragma once

#include <string>
#include <vector>

#include "builders/config/run_config.h"

namespace frugal {

// Puts overrides "section.key=value" on top of a configuration that code has filled, as `--set`
// does with one from a file. Sections and keys are those of a file, without memory.preset and
// model.layers, which code has chosen. Throws one ConfigError with everything that is wrong.
void ApplyOverrides(RunConfig& config, const std::vector<std::string>& overrides);

}  // namespace frugal
