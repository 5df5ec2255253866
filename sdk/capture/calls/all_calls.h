#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sdk/capture/calls/call.h"

namespace frugal {

// Returns the name of every call of a kernel that there is.
std::vector<std::string_view> CallNames();

// Makes an empty call; null where none has this name.
std::unique_ptr<Call> MakeCall(std::string_view name);

}  // namespace frugal
