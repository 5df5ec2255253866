#pragma once

#include <vector>

#include "builders/config/run_config.h"
#include "presets/config/resolved.h"

namespace frugal {

// Every value of a configuration with its origin, section by section: [memory], the other sections
// of a configuration file, then each layer ("model.layers.0 conv2d"). Layers have no other way than
// code and files to their values, so one that differs from its default without a file is from code.
std::vector<ResolvedValue> AllValues(const RunConfig& config);

// Returns true for a value of a layer.
bool IsOfLayer(const ResolvedValue& value);

// The origin with files by name alone, without their directories: "train.toml:7".
std::string BriefText(const Origin& origin);

}  // namespace frugal
