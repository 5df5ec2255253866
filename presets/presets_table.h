#pragma once

#include <string>

namespace frugal {

// The nine presets side by side, in two blocks of at most 120 columns: one row for each field, the
// default first, and a dot wherever a preset leaves it so.
std::string PresetsTable();

}  // namespace frugal
