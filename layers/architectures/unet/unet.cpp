#include "layers/architectures/unet/unet.h"

#include "layers/architectures/unet/unet_fields.h"
#include "layers/architectures/unet/unet_layers.h"
#include "layers/architectures/unet/unet_time.h"
#include "layers/blocks/parts.h"
#include "layers/types/family_row.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "unet";

std::int64_t TimeFeatures(const UNetConfig& config) { return 4 * config.block_out_channels[0]; }

std::int64_t HeadDim(const UNetConfig& config, std::int64_t channels) {
  return config.attention_head_dim.value_or(channels);
}

// {x, t} or {x, t, class_labels} -> {x, c} and the first skip
class UNetEmbedding final : public UNetStem<UNetTime> {
 public:
  explicit UNetEmbedding(const UNetConfig& config)
      : UNetStem(config.in_channels, config.block_out_channels[0],
                 UNetTimeOptions{.sinusoids = config.block_out_channels[0],
                                 .features = TimeFeatures(config),
                                 .cosine_first = config.flip_sin_to_cos,
                                 .frequency_shift = config.freq_shift,
                                 .classes = config.num_class_embeds},
                 "time") {}

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var c = embedding()(context, {.t = vars[1], .labels = vars.size() > 2 ? vars[2] : Var()});
    const Var x = convolution()(context, vars[0]);
    vars = {x, c};
    PushSkip(vars, x);
  }
};

class Parts final : public UNetParts {
 public:
  explicit Parts(const UNetConfig& config) : config_(config) {}

  void AppendResnet(Sequential& net, const std::string& path,
                    const ResnetPlace& place) const override {
    const ResnetBlockOptions options{.inputs = place.inputs,
                                     .outputs = place.outputs,
                                     .time_features = TimeFeatures(config_),
                                     .groups = config_.norm_num_groups,
                                     .eps = config_.norm_eps};
    net.Append(path, std::make_unique<UNetResnet>(options, place.skips));
  }

  void AppendAttention(Sequential& net, const std::string& path,
                       const AttentionPlace& place) const override {
    const ImageAttentionOptions options{.channels = place.channels,
                                        .heads = place.channels / HeadDim(config_, place.channels),
                                        .groups = config_.norm_num_groups,
                                        .eps = config_.norm_eps};
    net.Append(path, std::make_unique<UNetAttention>(options, place.skips));
  }

  void AppendDownsampler(Sequential& net, const std::string& path,
                         const DownsamplerPlace& place) const override {
    net.Append(path, std::make_unique<UNetDownsampler>(place, config_.downsample_padding));
  }

  void AppendUpsampler(Sequential& net, const std::string& path,
                       std::int64_t channels) const override {
    net.Append(path, std::make_unique<UNetUpsampler>(channels));
  }

 private:
  const UNetConfig& config_;
};

UNetSizes SizesOf(const UNetConfig& config) {
  const std::size_t stages = config.block_out_channels.size();
  UNetSizes sizes{.channels = config.block_out_channels,
                  .layers = std::vector<std::int64_t>(stages, config.layers_per_block)};
  sizes.down_attends = AttendingStages(kFamily, "down_block_types", config.down_block_types, stages,
                                       "DownBlock2D", "AttnDownBlock2D");
  sizes.up_attends = AttendingStages(kFamily, "up_block_types", config.up_block_types, stages,
                                     "UpBlock2D", "AttnUpBlock2D");
  return sizes;
}

void Check(const UNetConfig& config) {
  CheckNormedStages(kFamily, config.block_out_channels, config.norm_num_groups);
  CheckAtLeast(kFamily, "in_channels", config.in_channels);
  CheckAtLeast(kFamily, "out_channels", config.out_channels);
  CheckAtLeast(kFamily, "layers_per_block", config.layers_per_block);
  CheckAtLeast(kFamily, "num_class_embeds", config.num_class_embeds, 0);
  CheckAtLeast(kFamily, "downsample_padding", config.downsample_padding, 0);
  CheckDivides(kFamily, "sample_size", DownsamplingOf(config.block_out_channels.size()),
               config.sample_size, "the input");
}

void CheckHeadsOf(const UNetConfig& config, const UNetSizes& sizes) {
  const std::size_t last = sizes.channels.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    const bool middle = config.add_attention && i == last;
    if (!sizes.down_attends[i] && !sizes.up_attends[last - i] && !middle) continue;
    CheckDivides(kFamily, "attention_head_dim", HeadDim(config, sizes.channels[i]),
                 sizes.channels[i], "the channels of each stage that attends");
  }
}

NetworkInputs InputsOf(const UNetConfig& config) {
  const std::int64_t multiple = DownsamplingOf(config.block_out_channels.size());
  NetworkInputs inputs = {{.name = "x",
                           .role = InputRole::kSample,
                           .shape = {config.sample_size, config.sample_size, config.in_channels},
                           .free_axes = {0, 1},
                           .multiples = {multiple, multiple, 1}},
                          {.name = "t", .role = InputRole::kTime}};
  if (config.num_class_embeds > 0) {
    inputs.push_back(
        {.name = "class_labels", .role = InputRole::kLabel, .classes = config.num_class_embeds});
  }
  return inputs;
}

}  // namespace

std::unique_ptr<Sequential> MakeUNet(const UNetConfig& config) {
  Check(config);
  const UNetSizes sizes = SizesOf(config);
  CheckHeadsOf(config, sizes);
  const Parts parts(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<UNetEmbedding>(config));
  AppendDown(*net, sizes, parts);
  AppendMiddle(*net, sizes, parts,
               config.add_attention ? UNetMiddle::kAttention : UNetMiddle::kTwoResnets);
  AppendUp(*net, sizes, parts);
  AppendOutput(*net, {.inputs = config.block_out_channels[0],
                      .outputs = config.out_channels,
                      .groups = config.norm_num_groups,
                      .eps = config.norm_eps});
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily UNetFamily() {
  using C = UNetConfig;
  return FamilyRow<UNetConfig>(
      "unet",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of what comes in."),
       SizeField("out_channels", &C::out_channels, "Of what is predicted."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownBlock2D or AttnDownBlock2D for each stage.", kTypes),
       MakeField("up_block_types", &C::up_block_types,
                 "UpBlock2D or AttnUpBlock2D for each stage, the smallest images first.", kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       BlocksField(&C::layers_per_block),
       SizeField("attention_head_dim", &C::attention_head_dim,
                 "Channels of a head; none: one head."),
       MakeField("add_attention", &C::add_attention, "Whether the middle has attention."),
       SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
       EpsilonField("norm_eps", &C::norm_eps),
       MakeField("flip_sin_to_cos", &C::flip_sin_to_cos, "Cosines before sines in time features."),
       ShiftField(&C::freq_shift), PaddingField(&C::downsample_padding),
       ClassesField(&C::num_class_embeds)},
      MakeUNet);
}

}  // namespace frugal
