#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sdk/comm/communicator.h"
#include "sdk/comm/process/chunk_transport.h"

namespace frugal {

// Tells the other ranks that this one cannot go on, and why.
using FailFunction = std::function<void(const std::string& message)>;

// Runs body(communicator, fail) as the one rank of this process, and tells the others how it ended.
// An error of its own is thrown with the rank in front.
void RunProcessRank(std::unique_ptr<ChunkTransport> transport,
                    const std::function<void(Communicator&, const FailFunction& fail)>& body);

}  // namespace frugal
