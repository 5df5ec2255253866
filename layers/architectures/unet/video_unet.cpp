#include "layers/architectures/unet/video_unet.h"

#include <algorithm>

#include "layers/architectures/unet/unet_fields.h"
#include "layers/architectures/unet/unet_time.h"
#include "layers/architectures/unet/video_layers.h"
#include "layers/blocks/parts.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "video_unet";
constexpr std::int64_t kGroups = 32;
constexpr double kEpsilon = 1e-5;

std::int64_t TimeFeatures(const VideoUNetConfig& config) {
  return 4 * config.block_out_channels[0];
}

// {x, t, context, time_ids} -> {x, c, context} and the first skip
class VideoEmbedding final : public UNetStem<UNetTime> {
 public:
  explicit VideoEmbedding(const VideoUNetConfig& config)
      : UNetStem(config.in_channels, config.block_out_channels[0],
                 UNetTimeOptions{.sinusoids = config.block_out_channels[0],
                                 .features = TimeFeatures(config),
                                 .added_inputs = config.projection_class_embeddings_input_dim,
                                 .added_sinusoids = config.addition_time_embed_dim},
                 "time") {}

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var c = embedding()(context, {.t = vars[1], .time_ids = vars[3]});
    const Shape shape = vars[0].shape();
    const Var images = convolution()(context, AsImages(context, vars[0]));
    const Var x = LikeFrames(context, images, shape);
    vars = {x, c, vars[2]};
    PushSkip(vars, x);
  }
};

class Parts final : public UNetParts {
 public:
  explicit Parts(const VideoUNetConfig& config) : config_(config) {
    const std::size_t stages = config.block_out_channels.size();
    heads_ = PerStage(kFamily, "num_attention_heads", config.num_attention_heads, stages);
    transformers_ = PerStage(kFamily, "transformer_layers_per_block",
                             config.transformer_layers_per_block, stages);
  }

  void AppendResnet(Sequential& net, const std::string& path,
                    const ResnetPlace& place) const override {
    const ResnetBlockOptions options{.inputs = place.inputs,
                                     .outputs = place.outputs,
                                     .time_features = TimeFeatures(config_),
                                     .groups = kGroups,
                                     .eps = EpsilonAt(place)};
    net.Append(path, std::make_unique<VideoResnet>(options, place.skips));
  }

  void AppendAttention(Sequential& net, const std::string& path,
                       const AttentionPlace& place) const override {
    AppendVideoTransformer(net, path,
                           {.channels = place.channels,
                            .heads = heads_[place.stage],
                            .layers = transformers_[place.stage],
                            .context_features = config_.cross_attention_dim[0]},
                           place.skips);
  }

  void AppendDownsampler(Sequential& net, const std::string& path,
                         const DownsamplerPlace& place) const override {
    net.Append(path, std::make_unique<UNetDownsampler>(place, 1));
  }

  void AppendUpsampler(Sequential& net, const std::string& path,
                       std::int64_t channels) const override {
    net.Append(path, std::make_unique<UNetUpsampler>(channels));
  }

 private:
  // The public definition's, place by place.
  static double EpsilonAt(const ResnetPlace& place) {
    const bool small =
        place.part == UNetPart::kUp || (place.part == UNetPart::kDown && place.before_attention);
    return small ? 1e-6 : kEpsilon;
  }

  const VideoUNetConfig& config_;
  std::vector<std::int64_t> heads_;
  std::vector<std::int64_t> transformers_;
};

UNetSizes SizesOf(const VideoUNetConfig& config) {
  const std::size_t stages = config.block_out_channels.size();
  UNetSizes sizes{.channels = config.block_out_channels,
                  .layers = PerStage(kFamily, "layers_per_block", config.layers_per_block, stages)};
  sizes.down_attends =
      AttendingStages(kFamily, "down_block_types", config.down_block_types, stages,
                      "DownBlockSpatioTemporal", "CrossAttnDownBlockSpatioTemporal");
  sizes.up_attends = AttendingStages(kFamily, "up_block_types", config.up_block_types, stages,
                                     "UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal");
  return sizes;
}

void Check(const VideoUNetConfig& config) {
  const std::size_t stages = config.block_out_channels.size();
  CheckStages(kFamily, "block_out_channels", config.block_out_channels);
  for (const std::int64_t channels : config.block_out_channels) {
    CheckDivides(kFamily, "block_out_channels", kGroups, channels, "the channels of each stage");
  }
  CheckAtLeast(kFamily, "in_channels", config.in_channels);
  CheckAtLeast(kFamily, "out_channels", config.out_channels);
  CheckAtLeast(kFamily, "num_frames", config.num_frames);
  CheckAtLeast(kFamily, "addition_time_embed_dim", config.addition_time_embed_dim, 2);
  CheckDivides(kFamily, "projection_class_embeddings_input_dim", config.addition_time_embed_dim,
               config.projection_class_embeddings_input_dim, "the width of the embedded numbers");
  CheckSameWidth(kFamily, config.cross_attention_dim, stages);
  CheckDivides(kFamily, "sample_size", DownsamplingOf(stages), config.sample_size, "the input");
}

// The middle attends always.
void CheckHeadsOf(const VideoUNetConfig& config, const UNetSizes& sizes) {
  const std::size_t last = sizes.channels.size() - 1;
  const auto heads = PerStage(kFamily, "num_attention_heads", config.num_attention_heads, last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    if (i < last && !sizes.down_attends[i] && !sizes.up_attends[last - i]) continue;
    CheckHeads(kFamily, "num_attention_heads", heads[i], sizes.channels[i]);
  }
}

NetworkInputs InputsOf(const VideoUNetConfig& config) {
  const std::int64_t multiple = DownsamplingOf(config.block_out_channels.size());
  const std::int64_t numbers =
      config.projection_class_embeddings_input_dim / config.addition_time_embed_dim;
  return {{.name = "x",
           .role = InputRole::kSample,
           .shape = {config.num_frames, config.sample_size, config.sample_size, config.in_channels},
           .free_axes = {0, 1, 2},
           .multiples = {1, multiple, multiple, 1}},
          {.name = "t", .role = InputRole::kTime},
          {.name = "context",
           .role = InputRole::kValues,
           .shape = {1, config.cross_attention_dim[0]},
           .free_axes = {0}},
          {.name = "time_ids", .role = InputRole::kNumbers, .shape = {numbers}}};
}

}  // namespace

std::unique_ptr<Sequential> MakeVideoUNet(const VideoUNetConfig& config) {
  Check(config);
  const UNetSizes sizes = SizesOf(config);
  CheckHeadsOf(config, sizes);
  const Parts parts(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<VideoEmbedding>(config));
  AppendDown(*net, sizes, parts);
  AppendMiddle(*net, sizes, parts, UNetMiddle::kAttention);
  AppendUp(*net, sizes, parts);
  AppendOutput(*net, {.inputs = sizes.channels[0],
                      .outputs = config.out_channels,
                      .groups = kGroups,
                      .eps = kEpsilon});
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily VideoUNetFamily() {
  using C = VideoUNetConfig;
  return FamilyRow<VideoUNetConfig>(
      "video_unet",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("num_frames", &C::num_frames, "Frames that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of what comes in."),
       SizeField("out_channels", &C::out_channels, "Of what is predicted."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownBlockSpatioTemporal or CrossAttnDownBlockSpatioTemporal for each stage.",
                 kTypes),
       MakeField("up_block_types", &C::up_block_types,
                 "UpBlockSpatioTemporal or CrossAttnUpBlockSpatioTemporal, the smallest first.",
                 kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       SizeField("addition_time_embed_dim", &C::addition_time_embed_dim,
                 "Sinusoids of each of time_ids."),
       SizeField("projection_class_embeddings_input_dim", &C::projection_class_embeddings_input_dim,
                 "Sinusoids of all time_ids."),
       BlocksField(&C::layers_per_block),
       MakeField("transformer_layers_per_block", &C::transformer_layers_per_block,
                 "Transformer blocks behind a residual block.", kTransformerBlocks),
       MakeField("cross_attention_dim", &C::cross_attention_dim, "Features of the context.",
                 kPerStage),
       MakeField("num_attention_heads", &C::num_attention_heads, "Heads of each stage.",
                 kPerStage)},
      MakeVideoUNet);
}

}  // namespace frugal
