#pragma once

#include <optional>
#include <string>
#include <vector>

#include "presets/config/field.h"
#include "sdk/core/error.h"

namespace frugal {

// Returns what is wrong with giving the value to the field, or nothing. An integer is a number, but
// 3.0 is no integer. The diagnostic's `where` is empty.
std::optional<Diagnostic> CheckValue(const Field& field, const Value& value);

// Returns true for a value, not none, of the type that fields of the kind hold.
bool HasType(ValueKind kind, const Value& value);

// Checks every field of a struct that was filled in code; `where` of the diagnostics is the path of
// the table: "memory", "memory.tensor_pool_options".
std::vector<Diagnostic> CheckFields(const FieldTable& table, const void* object,
                                    const std::string& path);

// "'units' must be an integer >= 1", the sentence that diagnostics about a value begin with.
std::string Requirement(const Field& field);

}  // namespace frugal
