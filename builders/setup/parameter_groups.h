#pragma once

#include <span>

#include "builders/config/run_config.h"

namespace frugal {

// Marks the parameters that [training] frozen and [optimizer] lr_multiplier_for name. A name is the
// path of a parameter ("fc.weight") or of a part of the network ("layer1", "layer1.0"), as paths
// are written in weight files. Throws ConfigError, with the place in the configuration file, for a
// name that nothing lies under, for names that freeze everything, and for one in
// `lr_multiplier_for` under which all is frozen.
void SetParameterGroups(const RunConfig& config, std::span<Parameter* const> parameters);

}  // namespace frugal
