#include "sdk/optim/optimizer_options.h"

#include <array>

namespace frugal {

std::string_view NameOf(OptimizerKind kind) {
  constexpr auto names = std::to_array<std::string_view>(
      {"sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "nadam", "radam", "adamax"});
  static_assert(names.size() == kOptimizerKindCount);
  static_assert(kOptimizerKindCount == static_cast<std::size_t>(OptimizerKind::kAdamax) + 1);
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace frugal
