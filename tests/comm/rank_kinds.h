#pragma once

#include <functional>

#include "sdk/comm/communicator.h"

namespace frugal::testing {

enum class RankKind { kThreads, kSharedMemory };

// Runs body(communicator) for each rank on a thread of this process, connected as processes are
// where they share memory, or as threads. An error of a rank is thrown.
void RunRanks(RankKind kind, int size, const std::function<void(Communicator&)>& body);

}  // namespace frugal::testing
