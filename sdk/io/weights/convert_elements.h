#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sdk/io/weights/stored_dtype.h"

namespace frugal {

// Converts destination.size() elements of type `from`, stored at `source` without alignment.
// Rounds to nearest. Returns the index of the first finite value that the destination's type
// cannot hold (a number outside its range, a fraction for integers), nothing when all went well.
//
// `source` may be the tail of the destination itself when SizeOf(from) is not larger than the
// destination's elements: elements are read and written in increasing order.
std::optional<std::size_t> ConvertElements(StoredDType from, const std::byte* source,
                                           std::span<float> destination);
std::optional<std::size_t> ConvertElements(StoredDType from, const std::byte* source,
                                           std::span<double> destination);
std::optional<std::size_t> ConvertElements(StoredDType from, const std::byte* source,
                                           std::span<std::int64_t> destination);

}  // namespace frugal
