#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' UNet2DConditionModel where it has them. Lists have one number for all stages,
// or one for each.
struct PixelUNetConfig {
  std::int64_t sample_size = 64;  // height and width that plans assume; any multiple may be given
  std::int64_t in_channels = 3;
  std::int64_t out_channels = 3;
  // The way up has the same stages, the last first.
  std::vector<std::string> down_block_types = {"DownBlock2D", "CrossAttnDownBlock2D",
                                               "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"};
  std::vector<std::int64_t> block_out_channels = {512, 1024, 1536, 2048};
  std::vector<std::int64_t> layers_per_block = {3};
  std::int64_t attention_head_dim = 64;     // channels of a head
  std::int64_t encoder_hid_dim = 4096;      // features of the text
  std::int64_t cross_attention_dim = 2048;  // that it is projected to, once for all layers
  std::int64_t norm_num_groups = 32;
  double norm_eps = 1e-5;
  // These keys are our own:
  bool self_attention = true;  // whether pixels attend to each other, not to the text alone
  bool efficient = false;      // the Efficient U-Net
  std::int64_t upscale = 0;    // how often the given image is to be enlarged; 0: there is none
};

// The U-Nets over pixels of a cascade from text to image (Saharia et al., arXiv:2205.11487;
// appendix F has their sizes, neither code nor weights are public). The base is the U-Net of
// Dhariwal & Nichol (arXiv:2105.05233): residual blocks that time and pooled text scale and shift,
// that also halve and double the images, and attention to pixels and text at once behind each of a
// stage. With `efficient` it is the paper's Efficient U-Net, made to enlarge images (appendix B.1,
// figures A.27 to A.30): the order of AppendEfficientDown, convolutions of stride 2, a 1x1
// convolution beside each residual block, whose sum is divided by the square root of 2, attention
// twice as wide as its input.
//
// What the paper leaves open is chosen thus: the text is projected before all else, and pooled by
// attention whose query is its mean; each residual block takes the embeddings, as in the base, not
// each stage; skips are concatenated; images are doubled by nearest pixels and a convolution; the
// output is norm, SiLU and a 3x3 convolution. Paths are those that diffusers gives such parts.
//
// Inputs: x [N, H, W, in_channels], H and W multiples of 2^(stages - 1), with `efficient` of
// 2^stages; t [N] in [0, 1000); context [N, S, encoder_hid_dim], the text's features; with
// `upscale` low_resolution [N, H / upscale, W / upscale, in_channels], which is enlarged bilinearly
// and concatenated to x, and noise_level [N], how much noise is on it, in the units of t. Output:
// [N, H, W, out_channels]. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakePixelUNet(const PixelUNetConfig& config);

}  // namespace frugal
