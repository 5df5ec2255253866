#include "sdk/module/layer.h"

#include <array>

#include "sdk/core/error.h"

namespace frugal {

std::string_view NameOf(LayerKind kind) {
  constexpr std::array<std::string_view, 12> names = {
      "dense",   "convolution", "pooling",  "norm",       "activation", "dropout",
      "reshape", "attention",   "residual", "sequential", "embedding",  "recurrent"};
  return names[static_cast<std::size_t>(kind)];
}

Var Layer::operator()(Context& context, const Var& input) {
  const LabelScope label(context, path().empty() ? "model" : path());
  if (input.value.dtype() == DType::kI64 && !TakesTokens()) {
    throw ShapeError({.where = path(),
                      .required = "the layer takes values",
                      .given = "the input is token numbers " + ToString(input.shape()),
                      .advice = "put an embedding before it, or use other data"});
  }
  return Forward(context, input);
}

Var Layer::RunUpToProjection(Context& context, const Var& input) {
  const LabelScope label(context, path().empty() ? "model" : path());
  return ForwardUpToProjection(context, input);
}

}  // namespace frugal
