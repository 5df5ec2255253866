#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sdk/io/weights/weight_source.h"
#include "sdk/io/weights/weight_writer.h"

namespace frugal {

// Weight files in our binary form, which binary_table.h describes.

// Opens and checks the file. Throws WeightFileError for another magic or version, a list that runs
// past the end of the file, an unknown dtype, a rank above 8, a negative or too large extent, a
// byte count that disagrees with the shape, a name or key that is repeated or not UTF-8, data that
// are cut short, and bytes behind the last tensor.
std::unique_ptr<WeightSource> OpenBinaryWeights(const std::string& path);

// Bytes of a file of these tensors.
std::int64_t BinaryBytes(const std::vector<StoredTensor>& tensors,
                         const WeightMetadata& metadata = {});

// Begins a file; the tensors lie in the order given.
std::unique_ptr<WeightWriter> CreateBinaryWeights(const std::string& path,
                                                  std::vector<StoredTensor> tensors,
                                                  const WeightMetadata& metadata = {});

}  // namespace frugal
