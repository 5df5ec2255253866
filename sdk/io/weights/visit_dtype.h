#pragma once

#include <type_traits>

#include "sdk/core/bfloat16.h"
#include "sdk/core/half.h"
#include "sdk/io/weights/stored_dtype.h"

namespace frugal {

// Calls visitor(std::type_identity<T>{}) with the C++ type T of one stored element.
template <class Visitor>
auto VisitDType(StoredDType dtype, Visitor&& visitor) {
  switch (dtype) {
    case StoredDType::kBool:
    case StoredDType::kU8:
      return visitor(std::type_identity<std::uint8_t>{});
    case StoredDType::kI8:
      return visitor(std::type_identity<std::int8_t>{});
    case StoredDType::kI16:
      return visitor(std::type_identity<std::int16_t>{});
    case StoredDType::kU16:
      return visitor(std::type_identity<std::uint16_t>{});
    case StoredDType::kF16:
      return visitor(std::type_identity<Half>{});
    case StoredDType::kBF16:
      return visitor(std::type_identity<BFloat16>{});
    case StoredDType::kI32:
      return visitor(std::type_identity<std::int32_t>{});
    case StoredDType::kU32:
      return visitor(std::type_identity<std::uint32_t>{});
    case StoredDType::kF32:
      return visitor(std::type_identity<float>{});
    case StoredDType::kF64:
      return visitor(std::type_identity<double>{});
    case StoredDType::kI64:
      return visitor(std::type_identity<std::int64_t>{});
    case StoredDType::kU64:
      break;
  }
  return visitor(std::type_identity<std::uint64_t>{});
}

}  // namespace frugal
