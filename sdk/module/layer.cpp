#include "sdk/module/layer.h"

#include <array>

namespace frugal {

std::string_view NameOf(LayerKind kind) {
  constexpr std::array<std::string_view, 12> names = {
      "dense",   "convolution", "pooling",  "norm",       "activation", "dropout",
      "reshape", "attention",   "residual", "sequential", "embedding",  "recurrent"};
  return names[static_cast<std::size_t>(kind)];
}

Var Layer::operator()(Context& context, const Var& input) {
  const LabelScope label(context, path().empty() ? "model" : path());
  return Forward(context, input);
}

Var Layer::RunUpToProjection(Context& context, const Var& input) {
  const LabelScope label(context, path().empty() ? "model" : path());
  return ForwardUpToProjection(context, input);
}

}  // namespace frugal
