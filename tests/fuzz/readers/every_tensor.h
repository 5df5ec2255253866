#pragma once

#include "sdk/io/weights/weight_source.h"

namespace frugal::testing {

// Reads each tensor of an open weight file as it is stored and in each type that it converts to.
// Throws Error where some tensor cannot be read as it is stored, and std::logic_error for a file
// that breaks what a WeightSource promises. A conversion may be refused.
void ReadEveryTensor(const WeightSource& source);

}  // namespace frugal::testing
