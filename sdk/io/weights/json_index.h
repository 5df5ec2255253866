#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/io/weights/stored_tensor.h"

namespace frugal {

// The text between the brackets of one tensor's "data" lies at [begin, end) in the file.
struct JsonDataRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// The table of contents of a file in our JSON form (json_weights.h).
struct JsonIndex {
  std::vector<StoredTensor> tensors;
  std::vector<JsonDataRange> ranges;
  WeightMetadata metadata;
};

// Reads through the file once, keeping no numbers. Throws WeightFileError.
JsonIndex IndexJsonWeights(const std::string& path);

}  // namespace frugal
