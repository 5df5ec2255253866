#pragma once

#include <cstdint>
#include <string>

namespace frugal {

// Says what the control groups of this process allow it, from its own group up to the root of the
// hierarchy (cgroups(7)), in version 1 or 2 or both.
struct ControlGroupMemory {
  std::int64_t limit_bytes = 0;      // the least of all limits; 0 where no group has one
  std::int64_t available_bytes = 0;  // the least that any limited group has left; 0 without a limit
  std::string group;                 // the path of the group with the least limit, "/a/b"
};

// Reads /proc/self/cgroup, /proc/self/mountinfo and the files of the groups, all below `root`,
// which tests replace by a directory of their own. What is missing or cannot be read limits
// nothing.
ControlGroupMemory ReadControlGroups(const std::string& root = "");

}  // namespace frugal
