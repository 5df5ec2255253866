#pragma once

#include "builders/execute/executor.h"

namespace frugal {

// Makes what runs a planned training, which must outlive it, on one device or on several. With own
// data, `sources` holds it. Memory of parameters is taken here, or, with lazy initialization, when
// each is first touched.
std::unique_ptr<Executor> MakeExecutor(const PlannedTraining& planned, DataSources sources);

}  // namespace frugal
