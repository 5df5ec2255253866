#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/io/weights/stored_tensor.h"

namespace frugal {

// A tensor of the header with its place [begin, end), in bytes from the end of the header.
struct SafetensorsEntry {
  StoredTensor tensor;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their places, without gaps
  WeightMetadata metadata;
};

// Parses and checks a header whose data have `data_bytes` bytes. Throws WeightFileError.
SafetensorsHeader ParseSafetensorsHeader(const std::string& path, std::string_view text,
                                         std::int64_t data_bytes);

// Checks that the entries, sorted by place, tile the data exactly. Throws WeightFileError.
void CheckSafetensorsPlaces(const std::string& path, const std::vector<SafetensorsEntry>& entries,
                            std::int64_t data_bytes);

// The text of a header, padded with spaces to a multiple of 8 bytes.
std::string FormatSafetensorsHeader(const SafetensorsHeader& header);

}  // namespace frugal
