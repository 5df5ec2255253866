#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sdk/core/shape.h"

namespace frugal {

// An array of a .npy file (NumPy's manual, "numpy.lib.format"), row-major: bytes, whole numbers or
// values. f8 is read as f32, i4 as i64.
struct NpyArray {
  Shape shape;
  std::variant<std::vector<std::uint8_t>, std::vector<std::int64_t>, std::vector<float>> values;
};

// Reads a file of versions 1 to 3 whose elements are u1, i4, i8, f4 or f8, little endian. Throws
// DataError where it is missing, damaged, of other elements, in Fortran order, or has more or fewer
// bytes than its shape.
NpyArray ReadNpy(const std::string& path);

// Writes values as f4. Throws FileError where the file cannot be written.
void WriteNpy(const std::string& path, const Shape& shape, std::span<const float> values);

}  // namespace frugal
