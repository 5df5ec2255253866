#pragma once

#include <string>
#include <vector>

#include "sdk/capture/profile/entry_times.h"

namespace frugal {

// A line for each of the first `most` operations (0: all), in their order, and one for what is left
// out; below them, what the columns say and what was not right.
std::string ProfileTableText(const std::vector<EntryTime>& times, std::int64_t most);

}  // namespace frugal
