#include "sdk/io/weights/stored_dtype.h"

#include <array>

namespace frugal {
namespace {

struct Facts {
  std::int64_t size;
  std::string_view name;
  bool integer;
};
constexpr auto kFacts = std::to_array<Facts>({{1, "BOOL", true},
                                              {1, "U8", true},
                                              {1, "I8", true},
                                              {2, "I16", true},
                                              {2, "U16", true},
                                              {2, "F16", false},
                                              {2, "BF16", false},
                                              {4, "I32", true},
                                              {4, "U32", true},
                                              {4, "F32", false},
                                              {8, "F64", false},
                                              {8, "I64", true},
                                              {8, "U64", true}});
static_assert(kFacts.size() == kStoredDTypeCount);
static_assert(kStoredDTypeCount == static_cast<std::size_t>(StoredDType::kU64) + 1);

const Facts& Of(StoredDType dtype) { return kFacts[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::int64_t SizeOf(StoredDType dtype) { return Of(dtype).size; }
std::string_view NameOf(StoredDType dtype) { return Of(dtype).name; }
bool IsInteger(StoredDType dtype) { return Of(dtype).integer; }

StoredDType ToStored(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return StoredDType::kF32;
    case DType::kF64:
      return StoredDType::kF64;
    case DType::kBF16:
      return StoredDType::kBF16;
    case DType::kI64:
      return StoredDType::kI64;
    case DType::kI32:
      return StoredDType::kI32;
    case DType::kU8:
      return StoredDType::kU8;
  }
  return StoredDType::kU8;
}

std::optional<StoredDType> StoredDTypeNamed(std::string_view name) {
  for (std::size_t code = 0; code < kStoredDTypeCount; ++code) {
    if (kFacts[code].name == name) return static_cast<StoredDType>(code);
  }
  return std::nullopt;
}

}  // namespace frugal
