#pragma once

#include <string>
#include <vector>

#include "builders/setup/training_setup.h"

namespace frugal {

// Says in sentences where a training does as it was told, but hardly as it was meant: products in
// another precision than the one asked for, a warm-up that never ends, threads that wait for each
// other. Plans note them, and a model warns of them when it is made.
std::vector<std::string> CautionsAbout(const TrainingSetup& setup);

}  // namespace frugal
