#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sdk/core/shape.h"
#include "sdk/io/weights/stored_dtype.h"

namespace frugal {

// One tensor of a weight file: row-major, little endian.
struct StoredTensor {
  std::string name;
  Shape shape;
  StoredDType dtype = StoredDType::kF32;

  bool operator==(const StoredTensor&) const = default;
};

// Free text beside the tensors, such as {"format": "pt"}.
using WeightMetadata = std::map<std::string, std::string>;

// The name that safetensors and our JSON form reserve for the metadata.
inline constexpr const char* kMetadataName = "__metadata__";

// Bytes of a shape's elements; nothing when an extent is negative or the product overflows.
std::optional<std::int64_t> CheckedByteCount(const Shape& shape, StoredDType dtype);

std::int64_t ByteCount(const StoredTensor& tensor);

// "tensor 'fc.weight' (F32 [10, 84])"
std::string Describe(const StoredTensor& tensor);

}  // namespace frugal
