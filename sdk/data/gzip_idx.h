#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sdk/core/shape.h"

namespace frugal {

// IDX files (the form of MNIST, Y. LeCun, "The MNIST database", "File formats"), plain or gzipped:
// bytes 0, 0, element type, rank; then the extents as 32-bit big-endian numbers; then the elements,
// row-major. Of the element types, unsigned bytes (0x08) are supported.
struct IdxHeader {
  Shape shape;  // images [N, H, W] or [N, H, W, C], labels [N]
};

// Reads the shape only. Throws DataError when the file is missing, unreadable, empty, not IDX, of
// another element type, or announces more elements than a file of its size can hold.
IdxHeader ReadIdxHeader(const std::string& path);

// Reads all elements into `destination`, which holds exactly those of `expected`. Throws DataError
// as above, when the shape differs from `expected`, and when the file is cut short, damaged, or
// has bytes behind its last element.
void ReadIdxInto(const std::string& path, const Shape& expected,
                 std::span<std::uint8_t> destination);

// Does the same for a file of rows, `expected` [N, ...], of which only those with keep[n] != 0 are
// put into `destination`, one after the other.
void ReadIdxRowsInto(const std::string& path, const Shape& expected,
                     std::span<const std::uint8_t> keep, std::span<std::uint8_t> destination);

}  // namespace frugal
