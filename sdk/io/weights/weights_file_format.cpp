#include "sdk/io/weights/weights_file_format.h"

#include <array>

namespace frugal {

std::string_view NameOf(WeightsFileFormat format) {
  constexpr auto names = std::to_array<std::string_view>({"auto", "JSON", "binary", "safetensors"});
  static_assert(names.size() == static_cast<std::size_t>(WeightsFileFormat::kCount));
  return names[static_cast<std::size_t>(format)];
}

}  // namespace frugal
