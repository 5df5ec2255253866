#pragma once

#include <string_view>

#include "presets/config/config_node.h"

namespace frugal {

// Puts one override of the command line, `section.key=value`, into the tree of a configuration
// file, where it takes precedence over what the file says. The value is read as TOML; words that
// are no TOML value are taken as strings, so `memory.preset=ForConvNets` needs no quotes. A number
// in the path counts into a list: `model.layers.0.units=64`. Throws ConfigError where the text has
// another form, or the path leads through something that is no table.
void ApplyOverride(ConfigNode& root, std::string_view assignment);

}  // namespace frugal
