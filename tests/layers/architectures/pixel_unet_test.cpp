// Imagen's networks refuse values that do not fit when they are made; unets_test.cpp has the rest.
#include "layers/architectures/unet/pixel_unet.h"

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

TEST_CASE("U-Nets over pixels name the key whose value does not fit", "[layers][errors]") {
  const auto refusal = [](PixelUNetConfig config, auto change) {
    change(config);
    return MessageOf<ConfigError>([&] { MakePixelUNet(config); });
  };
  using Catch::Contains;
  const PixelUNetConfig good = {.sample_size = 8,
                                .down_block_types = {"DownBlock2D", "CrossAttnDownBlock2D"},
                                .block_out_channels = {4, 8},
                                .layers_per_block = {2, 1},
                                .attention_head_dim = 2,
                                .encoder_hid_dim = 5,
                                .cross_attention_dim = 6,
                                .norm_num_groups = 2,
                                .efficient = true,
                                .upscale = 2};
  CHECK_NOTHROW(MakePixelUNet(good));
  CHECK_THAT(refusal(good, [](auto& c) { c.down_block_types[0] = "AttnDownBlock2D"; }),
             Contains("pixel_unet.down_block_types"));
  CHECK_THAT(refusal(good, [](auto& c) { c.block_out_channels.clear(); }),
             Contains("pixel_unet.block_out_channels"));
  CHECK_THAT(refusal(good,
                     [](auto& c) {
                       c.layers_per_block = {1, 0};
                     }),
             Contains("pixel_unet.layers_per_block"));
  CHECK_THAT(refusal(good, [](auto& c) { c.attention_head_dim = 3; }),  // divides 6, not 16
             Contains("pixel_unet.attention_head_dim"));
  CHECK_THAT(refusal(good, [](auto& c) { c.cross_attention_dim = 7; }),
             Contains("pixel_unet.attention_head_dim"));
  CHECK_THAT(refusal(good, [](auto& c) { c.attention_head_dim = 0; }),
             Contains("pixel_unet.attention_head_dim"));
  CHECK_THAT(refusal(good, [](auto& c) { c.encoder_hid_dim = 0; }),
             Contains("pixel_unet.encoder_hid_dim"));
  CHECK_THAT(refusal(good, [](auto& c) { c.norm_num_groups = 3; }),
             Contains("pixel_unet.norm_num_groups"));
  CHECK_THAT(refusal(good, [](auto& c) { c.sample_size = 6; }), Contains("pixel_unet.sample_size"));
  CHECK_THAT(refusal(good, [](auto& c) { c.upscale = 3; }), Contains("pixel_unet.sample_size"));
  CHECK_THAT(refusal(good, [](auto& c) { c.upscale = -1; }), Contains("pixel_unet.upscale"));
}

}  // namespace
}  // namespace frugal::testing
