#include "layers/input_check.h"

#include "sdk/ops/support/check.h"

namespace frugal {

void CheckWidth(Context& context, const std::string& layer, std::int64_t width, const Var& input) {
  if (input.shape().rank() > 0 && input.shape().back() == width) return;
  ThrowShape(context, layer + " takes " + std::to_string(width) + " values at each position",
             input.shape(), "change the layer's size");
}

void CheckIsSequence(Context& context, const std::string& layer, const Var& input) {
  const Shape& shape = input.shape();
  if (shape.rank() == 3 && shape[1] >= 1) return;
  ThrowShape(
      context, layer + " takes a sequence [N, T, D] of at least one position", shape,
      shape.rank() > 3 ? "put to_sequence before it" : "give it one vector for each position");
}

}  // namespace frugal
