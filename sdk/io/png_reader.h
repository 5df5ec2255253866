#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/core/shape.h"

namespace frugal {

// Reads a PNG file as bytes [height, width, channels], row by row, in 1 channel of grey or 3 of
// red, green and blue: colours become grey and grey becomes colours where the other one is asked
// for, 16 bits become 8, and what is transparent is seen on black. Texts and colour profiles are
// passed over. Throws DataError where the file
// is missing, no PNG or damaged, or where the image has another size, which is looked at before
// anything of it is unpacked; UsageError for a shape that is not [H, W, 1] or [H, W, 3].
std::vector<std::uint8_t> ReadPng(const std::string& path, const Shape& shape);

}  // namespace frugal
