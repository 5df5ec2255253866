#pragma once

#include "layers/architectures/unet/controlnet_config.h"
#include "layers/architectures/unet/unet_skeleton.h"

// ControlNets have these parts in common. Tuples hold x, t, context, class_labels if there are
// classes, then the hints.
namespace frugal::architectures {

// Throws ConfigError naming the family and the key.
void CheckHints(const char* family, const ControlNetConfig& config);

// Returns where the first hint is in the tuple.
std::size_t FirstHintAt(const UNetTrunkConfig& config);

// Names a hint where there are several: "hint_3".
std::string HintName(std::int64_t type);

NetworkInput HintInput(const ControlNetConfig& config, const std::string& name);

// `count` hints [N, f H, f W, conditioning_channels] -> [N, H, W, C], each through the same
// convolutions: controlnet_cond_embedding.
void AppendHintConvolutions(Sequential& net, const ControlNetConfig& config, std::size_t count);

// Throws ShapeError naming the hint unless what is made of it has the shape of what is made of x.
void CheckHintFits(Context& context, const std::string& name, const Var& x, const Var& hint);

// A 1x1 convolution of each skip and of x, side by side: {[N, total]}. Parameters:
// controlnet_down_blocks.N, controlnet_mid_block.
void AppendResiduals(Sequential& net, const UNetSizes& sizes);

}  // namespace frugal::architectures
