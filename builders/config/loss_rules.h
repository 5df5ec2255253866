#pragma once

#include <string>

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"
#include "sdk/data/data_source.h"

namespace frugal {

// Complains about fields of other kinds of losses, and about a kind that the data (built-in ones,
// with labels) or a diffusion process cannot be compared by.
void CheckLoss(const RunConfig& config, bool custom_data, Diagnostics& diagnostics);

// Throws ConfigError where the loss takes labels and these data have real targets, or the other way
// round, where class_weights are not one for each class, and where a blank is no class.
void CheckLossOfData(const RunConfig& config, const DataLayout& layout);

// Throws ConfigError where a step goes through in several parts, and the loss of a further output
// does not count samples alike.
void CheckPartsOfOutput(std::int64_t parts, const std::string& output, const LossOptions& loss);

// Says why samples of such a loss do not count alike, "leaves out labels (ignore_index)", and by
// which key.
std::string UnequalCount(const LossOptions& loss);
std::string UnequalKey(const LossOptions& loss);

}  // namespace frugal
