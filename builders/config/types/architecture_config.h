#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "layers/architectures/asymmdit.h"
#include "layers/architectures/bert.h"
#include "layers/architectures/cogvideox.h"
#include "layers/architectures/dit.h"
#include "layers/architectures/emmdit.h"
#include "layers/architectures/flag_dit.h"
#include "layers/architectures/flux.h"
#include "layers/architectures/gpt2.h"
#include "layers/architectures/llama.h"
#include "layers/architectures/mmdit.h"
#include "layers/architectures/resnet.h"
#include "layers/architectures/unet/controlnet.h"
#include "layers/architectures/unet/controlnet_union.h"
#include "layers/architectures/unet/pixel_unet.h"
#include "layers/architectures/unet/unet.h"
#include "layers/architectures/unet/unet_condition.h"
#include "layers/architectures/unet/vae_kl.h"
#include "layers/architectures/unet/video_unet.h"
#include "layers/architectures/uvit.h"
#include "layers/architectures/vit.h"
#include "presets/config/field.h"

namespace frugal {

// A named architecture and its sizes: [model] family and [model.config].
using ArchitectureConfig =
    std::variant<Gpt2Config, LlamaConfig, BertConfig, VitConfig, ResNetConfig, DitConfig, SitConfig,
                 UVitConfig, FlagDitConfig, UNetConfig, UNetConditionConfig, ControlNetConfig,
                 ControlNetUnionConfig, VaeKlConfig, VideoUNetConfig, PixelUNetConfig, MmditConfig,
                 FluxConfig, CogVideoXConfig, AsymmDitConfig, EmmditConfig>;

// A family as TOML knows it.
struct ArchitectureFamily {
  std::string name;             // "gpt2"
  ArchitectureConfig defaults;  // the alternative with its default sizes
  FieldTable fields;            // of that alternative's struct
  // Makes the network of a configuration of that alternative, without paths.
  std::function<std::unique_ptr<Sequential>(const ArchitectureConfig& config)> make;
};

}  // namespace frugal
