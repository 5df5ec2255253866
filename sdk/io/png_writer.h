#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace frugal {

// Bytes of an image, row by row: 1 channel of grey or 3 of red, green and blue.
struct ImageBytes {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 1;
  std::span<const std::uint8_t> bytes;
};

// Writes a PNG file, or nothing: an interruption leaves what was there before. Throws UsageError
// for sizes that do not fit the bytes, FileError where the file cannot be written.
void WritePng(const std::string& path, const ImageBytes& image);

}  // namespace frugal
