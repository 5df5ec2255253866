#pragma once

#include <vector>

#include "sdk/optim/optimizer_rule.h"

namespace frugal {

// Our update rules, in the order of OptimizerKind.
std::vector<OptimizerRule> BuiltInRules();

}  // namespace frugal
