#pragma once

#include <string>

#include "builders/blueprint.h"

namespace frugal {

// The plan for programs, as `frugal plan --json` prints it: an object with at least parameters,
// peak_bytes, bytes_by_purpose, arena_bytes and live_lower_bound_bytes. Bytes are exact.
std::string PlanJson(const Blueprint& blueprint);

}  // namespace frugal
