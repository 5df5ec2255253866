#include "layers/architectures/unet/pixel_unet.h"

#include <array>
#include <numbers>

#include "layers/architectures/unet/pixel_conditions.h"
#include "layers/architectures/unet/unet_fields.h"
#include "layers/architectures/unet/unet_layers.h"
#include "layers/blocks/added_key_attention.h"
#include "layers/blocks/parts.h"
#include "layers/types/family_row.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/spatial/upsample.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "pixel_unet";
constexpr std::int64_t kTokens = 128;  // of a text, in plans

std::int64_t TimeFeatures(const PixelUNetConfig& config) {
  return 4 * config.block_out_channels[0];
}

// Returns the width of queries, keys and values.
std::int64_t AttentionWidth(const PixelUNetConfig& config, std::int64_t channels) {
  return (config.efficient ? 2 : 1) * channels;
}

std::int64_t Multiple(const PixelUNetConfig& config) {
  return DownsamplingOf(config.block_out_channels.size() + (config.efficient ? 1 : 0));
}

// {x, t, context} or {x, t, context, low_resolution, noise_level} -> {x, c, text} and, but for the
// Efficient U-Net, the first skip
class PixelEmbedding final : public UNetStem<PixelConditions> {
 public:
  explicit PixelEmbedding(const PixelUNetConfig& config)
      : UNetStem((config.upscale > 0 ? 2 : 1) * config.in_channels, config.block_out_channels[0],
                 PixelConditionsOptions{
                     .sinusoids = config.block_out_channels[0],
                     .features = TimeFeatures(config),
                     .text_inputs = config.encoder_hid_dim,
                     .text_features = config.cross_attention_dim,
                     .text_heads = config.cross_attention_dim / config.attention_head_dim,
                     .has_noise_level = config.upscale > 0,
                     .eps = config.norm_eps},
                 "time, text"),
        config_(config) {}

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const bool enlarges = config_.upscale > 0;
    const PixelConditions::Embedded embedded =
        embedding()(context, vars[1], vars[2], enlarges ? vars[4] : Var());
    const Var image = enlarges ? WithEnlarged(context, vars[0], vars[3]) : vars[0];
    vars.clear();
    const Var x = convolution()(context, image);
    vars = {x, embedded.c, embedded.text};
    if (!config_.efficient) PushSkip(vars, x);
  }

  // Channels of the image that is enlarged behind those of x.
  Var WithEnlarged(Context& context, const Var& x, const Var& small) const {
    const Shape& s = small.shape();
    const Shape wanted = {s[0], s[1] * config_.upscale, s[2] * config_.upscale, s[3]};
    if (wanted != x.shape()) {
      ThrowShape(context,
                 "low_resolution is " + std::to_string(config_.upscale) +
                     " times smaller than x, which is " + ToString(x.shape()),
                 s, "give the image that x is to be an enlargement of");
    }
    const std::array<Var, 2> parts = {
        x, Upsample(context, small, config_.upscale, Upsampling::kBilinear)};
    return Concat(context, parts, 3);
  }

  PixelUNetConfig config_;
};

// {x, c, text, skips...}
class PixelAttention final : public TupleLayer {
 public:
  PixelAttention(const AddedKeyAttentionOptions& options, SkipUse skips)
      : attention_(options), skips_(skips) {
    AddChild("", attention_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return attention_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var x = TakeWithSkip(context, vars, skips_);
    PutWithSkip(vars, attention_(context, x, vars[2]), skips_);
  }

  AddedKeyAttention attention_;
  SkipUse skips_;
};

class Parts final : public UNetParts {
 public:
  explicit Parts(const PixelUNetConfig& config) : config_(config) {}

  void AppendResnet(Sequential& net, const std::string& path,
                    const ResnetPlace& place) const override {
    net.Append(path,
               std::make_unique<UNetResnet>(BlockOf(place.inputs, place.outputs), place.skips));
  }

  void AppendAttention(Sequential& net, const std::string& path,
                       const AttentionPlace& place) const override {
    const AddedKeyAttentionOptions options{.channels = place.channels,
                                           .width = AttentionWidth(config_, place.channels),
                                           .head_size = config_.attention_head_dim,
                                           .text_features = config_.cross_attention_dim,
                                           .over_pixels = config_.self_attention,
                                           .groups = config_.norm_num_groups,
                                           .eps = config_.norm_eps};
    net.Append(path, std::make_unique<PixelAttention>(options, place.skips));
  }

  void AppendDownsampler(Sequential& net, const std::string& path,
                         const DownsamplerPlace& place) const override {
    if (config_.efficient) {
      net.Append(path, std::make_unique<UNetDownsampler>(place, 1));
    } else {
      AppendResampler(net, path, place.inputs, Resampling::kHalve, place.skips);
    }
  }

  void AppendUpsampler(Sequential& net, const std::string& path,
                       std::int64_t channels) const override {
    if (config_.efficient) {
      net.Append(path, std::make_unique<UNetUpsampler>(channels));
    } else {
      AppendResampler(net, path, channels, Resampling::kDouble, {});
    }
  }

 private:
  ResnetBlockOptions BlockOf(std::int64_t inputs, std::int64_t outputs) const {
    return {.inputs = inputs,
            .outputs = outputs,
            .time_features = TimeFeatures(config_),
            .groups = config_.norm_num_groups,
            .eps = config_.norm_eps,
            .scales = true,
            .always_projects = config_.efficient,
            .output_factor = config_.efficient ? 1 / std::numbers::sqrt2 : 1};
  }

  void AppendResampler(Sequential& net, const std::string& path, std::int64_t channels,
                       Resampling resampling, SkipUse skips) const {
    ResnetBlockOptions options = BlockOf(channels, channels);
    options.resampling = resampling;
    net.Append(path, std::make_unique<UNetResnet>(options, skips));
  }

  const PixelUNetConfig& config_;
};

UNetSizes SizesOf(const PixelUNetConfig& config) {
  const std::size_t stages = config.block_out_channels.size();
  UNetSizes sizes{.channels = config.block_out_channels,
                  .layers = PerStage(kFamily, "layers_per_block", config.layers_per_block, stages)};
  sizes.down_attends = AttendingStages(kFamily, "down_block_types", config.down_block_types, stages,
                                       "DownBlock2D", "CrossAttnDownBlock2D");
  sizes.up_attends.assign(sizes.down_attends.rbegin(), sizes.down_attends.rend());
  return sizes;
}

void Check(const PixelUNetConfig& config) {
  CheckNormedStages(kFamily, config.block_out_channels, config.norm_num_groups);
  CheckAtLeast(kFamily, "in_channels", config.in_channels);
  CheckAtLeast(kFamily, "out_channels", config.out_channels);
  CheckAtLeast(kFamily, "encoder_hid_dim", config.encoder_hid_dim);
  CheckAtLeast(kFamily, "cross_attention_dim", config.cross_attention_dim);
  CheckAtLeast(kFamily, "upscale", config.upscale, 0);
  CheckDivides(kFamily, "attention_head_dim", config.attention_head_dim, config.cross_attention_dim,
               "the text's cross_attention_dim");
  CheckDivides(kFamily, "sample_size", Multiple(config), config.sample_size, "the input");
  if (config.upscale == 0) return;
  CheckDivides(kFamily, "sample_size", config.upscale, config.sample_size, "the enlarged input");
}

// The middle attends, but in the Efficient U-Net, which has none.
void CheckHeadsOf(const PixelUNetConfig& config, const UNetSizes& sizes) {
  for (std::size_t i = 0; i < sizes.channels.size(); ++i) {
    const bool middle = !config.efficient && i + 1 == sizes.channels.size();
    if (!sizes.down_attends[i] && !middle) continue;
    CheckDivides(kFamily, "attention_head_dim", config.attention_head_dim,
                 AttentionWidth(config, sizes.channels[i]),
                 "the attention's width in each stage that attends");
  }
}

NetworkInputs InputsOf(const PixelUNetConfig& config) {
  const std::int64_t multiple = Multiple(config);
  NetworkInputs inputs = {{.name = "x",
                           .role = InputRole::kSample,
                           .shape = {config.sample_size, config.sample_size, config.in_channels},
                           .free_axes = {0, 1},
                           .multiples = {multiple, multiple, 1}},
                          {.name = "t", .role = InputRole::kTime},
                          {.name = "context",
                           .role = InputRole::kValues,
                           .shape = {kTokens, config.encoder_hid_dim},
                           .free_axes = {0}}};
  if (config.upscale == 0) return inputs;
  const std::int64_t side = config.sample_size / config.upscale;
  inputs.push_back({.name = "low_resolution",
                    .role = InputRole::kValues,
                    .shape = {side, side, config.in_channels},
                    .free_axes = {0, 1}});
  inputs.push_back({.name = "noise_level", .role = InputRole::kNumbers});
  return inputs;
}

void AppendStages(Sequential& net, const PixelUNetConfig& config, const UNetSizes& sizes) {
  const Parts parts(config);
  if (config.efficient) {
    AppendEfficientDown(net, sizes, parts);
    AppendEfficientUp(net, sizes, parts);
    return;
  }
  AppendDown(net, sizes, parts);
  AppendMiddle(net, sizes, parts, UNetMiddle::kAttention);
  AppendUp(net, sizes, parts);
}

}  // namespace

std::unique_ptr<Sequential> MakePixelUNet(const PixelUNetConfig& config) {
  Check(config);
  const UNetSizes sizes = SizesOf(config);
  CheckHeadsOf(config, sizes);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<PixelEmbedding>(config));
  AppendStages(*net, config, sizes);
  AppendOutput(*net, {.inputs = config.block_out_channels[0],
                      .outputs = config.out_channels,
                      .groups = config.norm_num_groups,
                      .eps = config.norm_eps});
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily PixelUNetFamily() {
  using C = PixelUNetConfig;
  return FamilyRow<PixelUNetConfig>(
      "pixel_unet",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of an image."),
       SizeField("out_channels", &C::out_channels, "Of what is predicted."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownBlock2D or CrossAttnDownBlock2D for each stage, on both ways.", kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       BlocksField(&C::layers_per_block),
       SizeField("attention_head_dim", &C::attention_head_dim, "Channels of a head."),
       SizeField("encoder_hid_dim", &C::encoder_hid_dim, "Features of the text."),
       SizeField("cross_attention_dim", &C::cross_attention_dim,
                 "Features of the text that layers attend to."),
       SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
       EpsilonField("norm_eps", &C::norm_eps),
       MakeField("self_attention", &C::self_attention,
                 "Whether pixels attend to each other, not to the text alone."),
       MakeField("efficient", &C::efficient,
                 "Whether stages halve their images first and double them last."),
       MakeField("upscale", &C::upscale,
                 "How often the image it is given is to be enlarged; 0: without.",
                 {.min = 0, .max = 64})},
      MakePixelUNet);
}

}  // namespace frugal
