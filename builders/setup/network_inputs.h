#pragma once

#include "layers/sequential.h"
#include "sdk/data/data_source.h"
#include "sdk/train/diffusion.h"

namespace frugal {

// Returns what the network takes, with the shapes of the data. Without a diffusion process the data
// have all of it; with one they have the sample, its label and what else conditions it, and times
// are drawn. Throws ConfigError naming the input that nothing provides, or labels that do not fit.
NetworkInputs ResolveInputs(const Sequential& network, const DataLayout& layout,
                            const DiffusionProcess* diffusion);

}  // namespace frugal
