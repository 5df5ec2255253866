#include "sdk/optim/optimizer_options.h"

#include <array>

#include "sdk/backend/state_codec.h"

namespace frugal {

std::string_view NameOf(OptimizerKind kind) {
  constexpr auto names = std::to_array<std::string_view>(
      {"sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "nadam", "radam", "adamax"});
  static_assert(names.size() == kOptimizerKindCount);
  static_assert(kOptimizerKindCount == static_cast<std::size_t>(OptimizerKind::kAdamax) + 1);
  return names[static_cast<std::size_t>(kind)];
}

std::string_view NameOf(StateFormat format) {
  constexpr auto names = std::to_array<std::string_view>({"f32", "bf16", "8bit"});
  static_assert(names.size() == static_cast<std::size_t>(StateFormat::kCount));
  return names[static_cast<std::size_t>(format)];
}

StateForm FormOf(StateFormat format, const Shape& parameter, DType dtype) {
  const std::int64_t elements = parameter.ElementCount();
  if (format == StateFormat::kBF16) return {DType::kBF16, parameter};
  if (format == StateFormat::k8Bit && elements >= kSmallest8BitState) {
    return {DType::kU8, {BlockStateBytes(elements)}};
  }
  return {dtype, parameter};
}

}  // namespace frugal
