#pragma once

#include <string>
#include <vector>

#include "builders/plan/planned_training.h"
#include "builders/snapshot/snapshot.h"

namespace frugal {

// Throws ConfigError, with each value that is another (DifferencesInNumbers), or SnapshotError with
// the tensors that are, where the training cannot go on from the snapshot to the same numbers.
void RequireSameTraining(const Snapshot& snapshot, const PlannedTraining& planned);

// Returns how many threads its kernels run on.
std::int64_t ThreadsOf(const PlannedTraining& planned);

// Reads the configuration in a snapshot, with overrides "section.key=value" on top. Throws
// SnapshotError where a program made its network, and ConfigError as ReadRunConfigText does.
RunConfig ConfigurationOf(const std::string& snapshot, const std::vector<std::string>& overrides);

}  // namespace frugal
