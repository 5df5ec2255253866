#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sdk/io/weights/weight_source.h"
#include "sdk/io/weights/weight_writer.h"

namespace frugal {

// The JSON form, for small models and for reading by eye:
//   {"fc.bias": {"shape": [2], "data": [0.5, -1e-05]},
//    "steps": {"dtype": "I64", "shape": [], "data": [12]}}
// "data" is one flat list, row-major. "dtype" is optional and F32 where absent; the names are those
// of safetensors. "__metadata__", also optional, holds text by name.

// Opens the file and reads through it once, keeping only where each list lies; the numbers are
// converted when a tensor is read. Throws WeightFileError, naming the tensor, for text that is not
// JSON of this form, nested data, a count that disagrees with the shape, repeated names, unknown
// members; and on reading, for numbers that the dtype cannot hold.
std::unique_ptr<WeightSource> OpenJsonWeights(const std::string& path);

// Bytes that a file of these tensors takes at most.
std::int64_t MostJsonBytes(const std::vector<StoredTensor>& tensors,
                           const WeightMetadata& metadata = {});

// Begins a file; the tensors lie in the order given. Numbers are written with the fewest digits
// that read back to the same bits. Write() throws WeightFileError for NaN and infinity, which JSON
// cannot hold.
std::unique_ptr<WeightWriter> CreateJsonWeights(const std::string& path,
                                                std::vector<StoredTensor> tensors,
                                                const WeightMetadata& metadata = {});

}  // namespace frugal
