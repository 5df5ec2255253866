#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sdk/io/weights/weight_source.h"
#include "sdk/io/weights/weight_writer.h"

namespace frugal {

// The safetensors form (https://github.com/huggingface/safetensors, "Format"):
//   8 bytes   N, the length of the header, little endian
//   N bytes   JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//             "__metadata__": {"key": "text", ...}}
//   the rest  the tensors, at their offsets [begin, end) counted from the end of the header

// Opens and checks the file. Throws WeightFileError, naming the tensor where one is to blame, for:
// a header length that does not fit, a header that is not JSON of this form, a name or member that
// is there twice, an unknown dtype, a shape that disagrees with its bytes, tensors that overlap,
// leave gaps or lie outside the file, and bytes behind the last tensor.
std::unique_ptr<WeightSource> OpenSafetensors(const std::string& path);

// Bytes of a file of these tensors.
std::int64_t SafetensorsBytes(const std::vector<StoredTensor>& tensors,
                              const WeightMetadata& metadata = {});

// Begins a file. The caller writes the tensors in the order given; in the file they lie widest
// dtype first and by name within a dtype, as the safetensors library orders them, so that every
// tensor is aligned and equal weights give equal files, whatever order they came in. The header is
// padded with spaces to a multiple of 8 bytes.
std::unique_ptr<WeightWriter> CreateSafetensors(const std::string& path,
                                                std::vector<StoredTensor> tensors,
                                                const WeightMetadata& metadata = {},
                                                PageCache cache = PageCache::kUse);

}  // namespace frugal
