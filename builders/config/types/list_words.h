#pragma once

#include <vector>

#include "layers/types/layer_type.h"

namespace frugal {

// Returns the rows of what a list of layers is put together by: lists inside of it, values by name,
// layers that run again, outputs. The network's builder makes them, from what is around them.
std::vector<LayerType> ListWords();

}  // namespace frugal
