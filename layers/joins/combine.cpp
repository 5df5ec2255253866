#include "layers/joins/combine.h"

#include <array>

#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {

std::string_view NameOf(Combine combine) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"add", "multiply", "concat", "subtract"});
  static_assert(kNames.size() == static_cast<std::size_t>(Combine::kCount));
  return kNames[static_cast<std::size_t>(combine)];
}

namespace {

BinaryKind KindOf(Combine combine) {
  if (combine == Combine::kAdd) return BinaryKind::kAdd;
  return combine == Combine::kMultiply ? BinaryKind::kMultiply : BinaryKind::kSubtract;
}

}  // namespace

Var Combined(Context& context, Combine combine, std::span<const Var> values) {
  if (combine == Combine::kConcat) {
    return Concat(context, values, static_cast<std::int64_t>(values[0].shape().rank()) - 1);
  }
  Var result = values[0];
  for (const Var& value : values.subspan(1)) {
    const bool sums = combine == Combine::kAdd && result.shape() == value.shape();
    result =
        sums ? Add(context, result, value) : Arithmetic(context, KindOf(combine), result, value);
  }
  return result;
}

}  // namespace frugal
