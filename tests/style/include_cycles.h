#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace frugal::style {

// A unit is a header and the source of its name, called by their path without an extension.
using UnitIncludes = std::map<std::string, std::set<std::string>>;

// Returns "sdk/core/a" for "sdk/core/a.h" and "sdk/core/a.cpp".
std::string UnitOf(std::string_view path);

// Returns the groups of units that include each other around a circle, the units of each in order.
// Pairs that are one thought are left out; include_cycles.cpp names them with the reason.
std::vector<std::vector<std::string>> IncludeCycles(const UnitIncludes& includes);

}  // namespace frugal::style
