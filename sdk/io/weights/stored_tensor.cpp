#include "sdk/io/weights/stored_tensor.h"

#include <algorithm>

#include "sdk/core/utf8.h"

namespace frugal {

std::optional<std::int64_t> CheckedByteCount(const Shape& shape, StoredDType dtype) {
  const auto extents = shape.extents();
  if (std::ranges::any_of(extents, [](std::int64_t extent) { return extent < 0; })) return {};
  // Zeros are left out of the product, so that it is refused in whatever order it is formed.
  std::int64_t bytes = SizeOf(dtype);
  for (const std::int64_t extent : extents) {
    if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return {};
  }
  if (std::ranges::find(extents, 0) != extents.end()) return 0;
  return bytes;
}

std::int64_t ByteCount(const StoredTensor& tensor) {
  return tensor.shape.ElementCount() * SizeOf(tensor.dtype);
}

std::string Describe(const StoredTensor& tensor) {
  return "tensor " + QuotedName(tensor.name) + " (" + std::string(NameOf(tensor.dtype)) + " " +
         ToString(tensor.shape) + ")";
}

}  // namespace frugal
