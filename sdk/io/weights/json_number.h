#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sdk/io/weights/stored_dtype.h"

namespace frugal {

// Appends the element at `source` with the fewest digits that read back to the same value.
// False, and nothing appended, for NaN and infinity.
bool AppendJsonNumber(std::string& text, StoredDType dtype, const std::byte* source);

// Stores the number that `text` spells, rounded to nearest. False when it is no number or one that
// the dtype cannot hold: out of range, or not whole for an integer.
bool ParseJsonNumber(std::string_view text, StoredDType dtype, std::byte* destination);

}  // namespace frugal
