#pragma once

#include "layers/sequential.h"
#include "sdk/data/data_source.h"
#include "sdk/train/diffusion.h"

namespace frugal {

// Returns what the network makes beside its first output. Throws ConfigError naming an output whose
// targets the data do not have, or are no match for its loss, targets that no output is compared
// with, outputs that share labels and leave out different ones, and two outputs of one name. `loss`
// is that of the first output.
NetworkOutputs ResolveOutputs(const Sequential& network, const DataLayout& layout,
                              const LossOptions& loss, const DiffusionProcess* diffusion);

}  // namespace frugal
