#pragma once

#include <string>
#include <vector>

#include "presets/config/field.h"

namespace frugal {

// One field as documentation shows it.
struct ReferenceRow {
  std::string name;   // dotted where it lies in a table inside the table
  std::string type;   // "an integer >= 1, in MB; or none"
  std::string value;  // its default as TOML writes it; "required", "none", or "" for a table
  Field field;
};

// All fields of a table; those of tables inside it follow them.
std::vector<ReferenceRow> ReferenceRows(const FieldTable& table);

// The row of a field that is no member of a struct, such as `preset`.
ReferenceRow RowWithoutDefault(const Field& field);

// A Markdown table of rows: name, type with range and unit, default, documentation.
std::string ReferenceText(const std::vector<ReferenceRow>& rows);
std::string ReferenceText(const FieldTable& table);

}  // namespace frugal
