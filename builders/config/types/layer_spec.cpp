#include "builders/config/types/layer_spec.h"

#include <array>

namespace frugal {

std::string_view TypeNameOf(const LayerOptions& options) {
  constexpr auto names = std::to_array<std::string_view>({"dense",
                                                          "activation",
                                                          "dropout",
                                                          "flatten",
                                                          "conv1d",
                                                          "conv2d",
                                                          "conv3d",
                                                          "conv_transpose1d",
                                                          "conv_transpose2d",
                                                          "conv_transpose3d",
                                                          "max_pool2d",
                                                          "avg_pool2d",
                                                          "adaptive_avg_pool2d",
                                                          "upsample",
                                                          "batch_norm",
                                                          "layer_norm",
                                                          "rms_norm",
                                                          "group_norm",
                                                          "to_sequence",
                                                          "lstm",
                                                          "gru",
                                                          "sequence_pool",
                                                          "embedding",
                                                          "learned_positions",
                                                          "sinusoidal_positions",
                                                          "attention",
                                                          "gated_feed_forward",
                                                          "residual",
                                                          "sequential"});
  static_assert(names.size() == std::variant_size_v<LayerOptions>);
  return names[options.index()];
}

}  // namespace frugal
