#include "layers/architectures/unet/vae_kl.h"

#include <optional>

#include "layers/architectures/unet/unet_fields.h"
#include "layers/architectures/unet/unet_layers.h"
#include "layers/blocks/parts.h"
#include "layers/types/family_row.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "vae_kl";
constexpr double kEpsilon = 1e-6;

class Parts final : public UNetParts {
 public:
  explicit Parts(std::int64_t groups) : groups_(groups) {}

  void AppendResnet(Sequential& net, const std::string& path,
                    const ResnetPlace& place) const override {
    const ResnetBlockOptions options{.inputs = place.inputs,
                                     .outputs = place.outputs,
                                     .groups = groups_,
                                     .eps = kEpsilon,
                                     .starts_as_shortcut = false};
    net.Append(path, std::make_unique<UNetResnet>(options, place.skips));
  }

  void AppendAttention(Sequential& net, const std::string& path,
                       const AttentionPlace& place) const override {
    const ImageAttentionOptions options{
        .channels = place.channels, .heads = 1, .groups = groups_, .eps = kEpsilon};
    net.Append(path, std::make_unique<UNetAttention>(options, place.skips));
  }

  void AppendDownsampler(Sequential& net, const std::string& path,
                         const DownsamplerPlace& place) const override {
    net.Append(path, std::make_unique<UNetDownsampler>(place, 0));
  }

  void AppendUpsampler(Sequential& net, const std::string& path,
                       std::int64_t channels) const override {
    net.Append(path, std::make_unique<UNetUpsampler>(channels));
  }

 private:
  std::int64_t groups_;
};

// From the encoder's result, mean and log variance, to what the decoder takes: the mean.
class PosteriorMode final : public Layer {
 public:
  explicit PosteriorMode(const VaeKlConfig& config) : channels_(config.latent_channels) {
    const auto pointwise = [](std::int64_t channels) {
      return Conv2dOptions{.filters = channels, .kernel = {1}};
    };
    if (config.use_quant_conv) {
      AddChild("quant_conv", before_.emplace(2 * channels_, pointwise(2 * channels_)));
    }
    if (config.use_post_quant_conv) {
      AddChild("post_quant_conv", after_.emplace(channels_, pointwise(channels_)));
    }
  }

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override {
    return "mode of a posterior of " + std::to_string(channels_) + " channels";
  }

 private:
  Var Forward(Context& context, const Var& input) override {
    const Var moments = before_ ? (*before_)(context, input) : input;
    const Var mode = Slice(context, moments, {{3, 0, channels_}});
    return after_ ? (*after_)(context, mode) : mode;
  }

  std::int64_t channels_;
  std::optional<Conv2d> before_;
  std::optional<Conv2d> after_;
};

UNetSizes SizesOf(const VaeKlConfig& config, std::string prefix) {
  const std::size_t stages = config.block_out_channels.size();
  return {.prefix = std::move(prefix),
          .channels = config.block_out_channels,
          .layers = std::vector<std::int64_t>(stages, config.layers_per_block),
          .down_attends = AttendingStages(kFamily, "down_block_types", config.down_block_types,
                                          stages, "DownEncoderBlock2D", "AttnDownEncoderBlock2D"),
          .up_attends = AttendingStages(kFamily, "up_block_types", config.up_block_types, stages,
                                        "UpDecoderBlock2D", "AttnUpDecoderBlock2D"),
          .skips = false};
}

void Check(const VaeKlConfig& config) {
  CheckNormedStages(kFamily, config.block_out_channels, config.norm_num_groups);
  CheckAtLeast(kFamily, "in_channels", config.in_channels);
  CheckAtLeast(kFamily, "out_channels", config.out_channels);
  CheckAtLeast(kFamily, "latent_channels", config.latent_channels);
  CheckAtLeast(kFamily, "layers_per_block", config.layers_per_block);
  const std::size_t stages = config.block_out_channels.size();
  CheckDivides(kFamily, "sample_size", DownsamplingOf(stages), config.sample_size, "the input");
}

UNetOutputOptions OutputOf(const VaeKlConfig& config, std::int64_t inputs, std::int64_t outputs) {
  return {.inputs = inputs,
          .outputs = outputs,
          .groups = config.norm_num_groups,
          .eps = kEpsilon,
          .starts_at_zero = false};
}

void AppendEncoder(Sequential& net, const VaeKlConfig& config, const Parts& parts) {
  const UNetSizes sizes = SizesOf(config, "encoder.");
  net.Append("encoder.conv_in",
             std::make_unique<Conv2d>(config.in_channels, SameSize(sizes.channels[0])));
  AppendDown(net, sizes, parts);
  AppendMiddle(net, sizes, parts,
               config.mid_block_add_attention ? UNetMiddle::kAttention : UNetMiddle::kTwoResnets);
  net.Append("encoder", std::make_unique<UNetOutput>(
                            OutputOf(config, sizes.channels.back(), 2 * config.latent_channels)));
}

void AppendDecoder(Sequential& net, const VaeKlConfig& config, const Parts& parts) {
  const UNetSizes sizes = SizesOf(config, "decoder.");
  net.Append("decoder.conv_in",
             std::make_unique<Conv2d>(config.latent_channels, SameSize(sizes.channels.back())));
  AppendMiddle(net, sizes, parts,
               config.mid_block_add_attention ? UNetMiddle::kAttention : UNetMiddle::kTwoResnets);
  AppendUp(net, sizes, parts);
  net.Append("decoder", std::make_unique<UNetOutput>(
                            OutputOf(config, sizes.channels[0], config.out_channels)));
}

}  // namespace

std::unique_ptr<Sequential> MakeVaeKl(const VaeKlConfig& config) {
  Check(config);
  const Parts parts(config.norm_num_groups);
  auto net = std::make_unique<Sequential>();
  AppendEncoder(*net, config, parts);
  net->AppendUnnamed("posterior", std::make_unique<PosteriorMode>(config));
  AppendDecoder(*net, config, parts);
  const std::int64_t multiple = DownsamplingOf(config.block_out_channels.size());
  net->SetInputs({{.name = "x",
                   .role = InputRole::kSample,
                   .shape = {config.sample_size, config.sample_size, config.in_channels},
                   .free_axes = {0, 1},
                   .multiples = {multiple, multiple, 1}}});
  return net;
}

ArchitectureFamily VaeKlFamily() {
  using C = VaeKlConfig;
  return FamilyRow<VaeKlConfig>(
      "vae_kl",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of an image."),
       SizeField("out_channels", &C::out_channels, "Of the image that comes back."),
       SizeField("latent_channels", &C::latent_channels, "Of the latents."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownEncoderBlock2D or AttnDownEncoderBlock2D for each stage.", kTypes),
       MakeField(
           "up_block_types", &C::up_block_types,
           "UpDecoderBlock2D or AttnUpDecoderBlock2D for each stage, the smallest images first.",
           kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       BlocksField(&C::layers_per_block),
       SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
       MakeField("use_quant_conv", &C::use_quant_conv, "A 1x1 convolution before the latents."),
       MakeField("use_post_quant_conv", &C::use_post_quant_conv, "And one behind them."),
       MakeField("mid_block_add_attention", &C::mid_block_add_attention,
                 "Whether the middles have attention.")},
      MakeVaeKl);
}

}  // namespace frugal
