#include "sdk/core/operation_kind.h"

#include <array>

namespace frugal {

std::string_view NameOf(OperationKind kind) {
  constexpr auto names = std::to_array<std::string_view>(
      {"matmul", "convolution", "attention", "norm", "activation", "elementwise", "loss", "pooling",
       "embedding", "recurrent", "resample", "optimizer", "copy", "data", "communication"});
  static_assert(names.size() == kOperationKindCount);
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace frugal
