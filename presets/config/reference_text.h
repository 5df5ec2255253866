#pragma once

#include <string>

#include "presets/config/field.h"

namespace frugal {

// A Markdown table of all fields: name, type with range and unit, default, documentation. Fields of
// tables inside the table follow it with dotted names.
std::string ReferenceText(const FieldTable& table);

}  // namespace frugal
