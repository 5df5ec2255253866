#pragma once

#include "builders/plan/planned_training.h"

namespace frugal {

// Bytes that the process takes for tensors at most under a plan: what lives outside steps, and the
// arena with the gaps of its layout; without an arena, the peak. With several devices it is those
// of this machine together.
std::int64_t NeededBytes(const PlannedTraining& planned);

}  // namespace frugal
