#include "sdk/core/dtype.h"

#include <array>

namespace frugal {
namespace {

struct Facts {
  std::int64_t size;
  std::string_view name;
};
constexpr auto kFacts =
    std::to_array<Facts>({{4, "f32"}, {8, "f64"}, {2, "bf16"}, {8, "i64"}, {4, "i32"}, {1, "u8"}});
static_assert(kFacts.size() == static_cast<std::size_t>(DType::kU8) + 1);

const Facts& Of(DType dtype) { return kFacts[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::int64_t SizeOf(DType dtype) { return Of(dtype).size; }
std::string_view NameOf(DType dtype) { return Of(dtype).name; }

}  // namespace frugal
