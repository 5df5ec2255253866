#pragma once

#include <cstdint>
#include <vector>

#include "sdk/io/input_file.h"
#include "sdk/io/stored_tensor.h"

namespace frugal {

// The table of contents of a file in our binary form (binary_weights.h).
struct BinaryTable {
  std::vector<StoredTensor> tensors;
  std::vector<std::int64_t> offsets;  // of each tensor's data, from the start of the file
  WeightMetadata metadata;
};

// Reads and checks the table against the size of the file. Throws WeightFileError.
BinaryTable ReadBinaryTable(const InputFile& file);

}  // namespace frugal
