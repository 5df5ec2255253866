#pragma once

#include <memory>

#include "sdk/comm/communicator.h"
#include "sdk/comm/process/message_links.h"

namespace frugal {

// Returns the group of all ranks that the links connect.
std::unique_ptr<Communicator> MakeProcessCommunicator(std::shared_ptr<MessageLinks> links);

}  // namespace frugal
