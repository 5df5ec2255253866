#pragma once

#include "builders/config/run_config.h"
#include "layers/sequential.h"
#include "sdk/data/data_source.h"

namespace frugal {

// Describes what a family of architectures is trained on; targets are left out where they are no
// labels.
struct NominalLayout {
  DataLayout layout;
  bool has_labels = false;  // else the targets have the shape of the output
};

// Makes the layout from what the network says that it takes (Sequential::inputs()), and of networks
// over tokens and classifiers of images, which say nothing, from their sizes: sequences of
// `sequence_length` tokens, 0 for the longest that the model takes; images of the size that was
// published. Throws ConfigError where neither tells.
NominalLayout NominalLayoutOf(const ArchitectureConfig& config, const Sequential& network,
                              std::int64_t sequence_length = 0);

}  // namespace frugal
