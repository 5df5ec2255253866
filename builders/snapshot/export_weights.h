#pragma once

#include <string>

#include "builders/snapshot/snapshot.h"

namespace frugal {

// Writes the weights of a snapshot alone, under their public names and with the description of
// their network, as Model::SaveWeights does: of their moving averages, where the training keeps
// them. Throws FileError where it cannot.
void ExportWeights(const Snapshot& snapshot, const std::string& path);

}  // namespace frugal
