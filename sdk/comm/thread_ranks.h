#pragma once

#include <functional>

#include "sdk/comm/communicator.h"
#include "sdk/comm/worker_threads.h"

namespace frugal {

// Runs body(communicator) on `size` threads, one for each rank, and returns when all have ended.
// Ranks read each other's buffers in place. Where a rank throws, those that wait for it are ended,
// and its error is thrown here, with the rank in front of what it says.
void RunThreadRanks(int size, const std::function<void(Communicator&)>& body);
// Runs it so on the first `size` of threads that are there.
void RunThreadRanks(WorkerThreads& threads, int size,
                    const std::function<void(Communicator&)>& body);

}  // namespace frugal
