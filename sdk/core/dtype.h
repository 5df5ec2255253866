#pragma once

#include <cstdint>
#include <string_view>

namespace frugal {

// Element types. kU8 also serves as "opaque bytes that only the backend reads".
enum class DType : std::uint8_t { kF32, kF64, kBF16, kI64, kI32, kU8 };

std::int64_t SizeOf(DType dtype);  // bytes of one element
// The type of parameters and statistics beside activations of `dtype`: f32 beside bf16, else the
// same.
constexpr DType MasterType(DType dtype) { return dtype == DType::kBF16 ? DType::kF32 : dtype; }
std::string_view NameOf(DType dtype);  // "f32", "f64", "bf16", "i64", "i32", "u8"

template <class T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<float>() {
  return DType::kF32;
}
template <>
constexpr DType DTypeOf<double>() {
  return DType::kF64;
}
template <>
constexpr DType DTypeOf<std::int64_t>() {
  return DType::kI64;
}
template <>
constexpr DType DTypeOf<std::int32_t>() {
  return DType::kI32;
}
template <>
constexpr DType DTypeOf<std::uint8_t>() {
  return DType::kU8;
}

}  // namespace frugal
