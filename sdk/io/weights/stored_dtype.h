#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sdk/core/dtype.h"

namespace frugal {

// Element types that a weight file may hold: more than DType, which lists those we compute with.
// The numbers are the codes of the binary form (binary_weights.h): append, never renumber. The
// order is that of the safetensors library, by growing alignment, which fixes its file layout.
enum class StoredDType : std::uint8_t {
  kBool,  // one byte, 0 or 1
  kU8,
  kI8,
  kI16,
  kU16,
  kF16,  // IEEE 754 binary16
  kBF16,
  kI32,
  kU32,
  kF32,
  kF64,
  kI64,
  kU64,
};

inline constexpr std::size_t kStoredDTypeCount = 13;

std::int64_t SizeOf(StoredDType dtype);      // bytes of one element
std::string_view NameOf(StoredDType dtype);  // as safetensors spells it: "F32", "BF16", "BOOL"
bool IsInteger(StoredDType dtype);           // true for kBool too
StoredDType ToStored(DType dtype);

// The inverse of NameOf; nothing for an unknown name.
std::optional<StoredDType> StoredDTypeNamed(std::string_view name);

}  // namespace frugal
