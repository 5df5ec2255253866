#include "sdk/autograd/operation_kind.h"

#include <array>

namespace frugal {

std::string_view NameOf(OperationKind kind) {
  constexpr std::array<std::string_view, kOperationKindCount> names = {
      "product", "convolution", "attention", "norm",     "activation", "elementwise", "loss",
      "pooling", "embedding",   "recurrent", "resample", "optimizer",  "copy",        "data"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace frugal
