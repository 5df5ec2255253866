#include "builders/layer_spec.h"

#include <array>

namespace frugal {

std::string_view TypeNameOf(const LayerOptions& options) {
  constexpr std::array<std::string_view, std::variant_size_v<LayerOptions>> names = {
      "dense",      "conv2d",     "max_pool2d", "avg_pool2d", "adaptive_avg_pool2d",
      "batch_norm", "layer_norm", "group_norm", "activation", "dropout",
      "flatten",    "residual",   "sequential"};
  return names[options.index()];
}

}  // namespace frugal
