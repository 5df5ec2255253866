#pragma once

#include <string>

#include "builders/execute/training_result.h"

namespace frugal {

// Returns the number of an evaluation that is called "loss", "accuracy" or by a metric's name.
// Throws ConfigError in the name of the key where it has none.
double EvaluationNumber(const EvaluationResult& result, const std::string& name,
                        const std::string& key);

// Says whether larger values of a number of that name are better.
bool LargerIsBetter(const std::string& name);

}  // namespace frugal
