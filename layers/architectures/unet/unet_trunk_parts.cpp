#include "layers/architectures/unet/unet_trunk_parts.h"

#include <algorithm>

#include "layers/architectures/unet/unet_transformer.h"
#include "layers/blocks/parts.h"
#include "sdk/core/error.h"

namespace frugal::architectures {
namespace {

constexpr std::int64_t kWords = 77;           // of CLIP's text encoders
constexpr std::int64_t kTextFeatures = 1280;  // of SDXL's pooled text
constexpr std::int64_t kNumbers = 6;

bool HasAdded(const UNetTrunkConfig& config) {
  return config.addition_embed_type == AddedEmbedding::kTextTime;
}

std::int64_t TimeFeatures(const UNetTrunkConfig& config) {
  return 4 * config.block_out_channels[0];
}

std::int64_t NumbersOf(const UNetTrunkConfig& config) {
  const std::int64_t left = config.projection_class_embeddings_input_dim - kTextFeatures;
  const bool fits = left > 0 && left % config.addition_time_embed_dim == 0;
  return fits ? left / config.addition_time_embed_dim : kNumbers;
}

std::int64_t TextFeaturesOf(const UNetTrunkConfig& config) {
  return config.projection_class_embeddings_input_dim -
         NumbersOf(config) * config.addition_time_embed_dim;
}

}  // namespace

void CheckTrunk(const char* family, const UNetTrunkConfig& config) {
  CheckNormedStages(family, config.block_out_channels, config.norm_num_groups);
  CheckAtLeast(family, "in_channels", config.in_channels);
  CheckAtLeast(family, "num_class_embeds", config.num_class_embeds, 0);
  CheckAtLeast(family, "downsample_padding", config.downsample_padding, 0);
  CheckDivides(family, "sample_size", DownsamplingOf(config.block_out_channels.size()),
               config.sample_size, "the input");
  CheckSameWidth(family, config.cross_attention_dim, config.block_out_channels.size());
  if (!HasAdded(config)) return;
  CheckAtLeast(family, "addition_time_embed_dim", config.addition_time_embed_dim, 2);
  if (TextFeaturesOf(config) > 0) return;
  throw ConfigError({.where = std::string(family) + ".projection_class_embeddings_input_dim",
                     .required = "more than " + std::to_string(kNumbers) + " numbers of " +
                                 std::to_string(config.addition_time_embed_dim) + " features each",
                     .given = std::to_string(config.projection_class_embeddings_input_dim),
                     .advice = "give the width of the text's features and the numbers' together"});
}

UNetSizes TrunkSizes(const char* family, const UNetTrunkConfig& config) {
  const std::size_t stages = config.block_out_channels.size();
  UNetSizes sizes{.channels = config.block_out_channels,
                  .layers = PerStage(family, "layers_per_block", config.layers_per_block, stages)};
  sizes.down_attends = AttendingStages(family, "down_block_types", config.down_block_types, stages,
                                       "DownBlock2D", "CrossAttnDownBlock2D");
  return sizes;
}

void CheckTrunkHeads(const char* family, const UNetTrunkConfig& config, const UNetSizes& sizes) {
  const std::size_t last = sizes.channels.size() - 1;
  const auto heads = PerStage(family, "attention_head_dim", config.attention_head_dim, last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    const bool middle = i == last && MiddleOf(config) == UNetMiddle::kAttention;
    const bool up = !sizes.up_attends.empty() && sizes.up_attends[last - i];
    if (!sizes.down_attends[i] && !up && !middle) continue;
    CheckHeads(family, "attention_head_dim", heads[i], sizes.channels[i]);
  }
}

UNetMiddle MiddleOf(const UNetTrunkConfig& config) {
  switch (config.mid_block_type) {
    case UNetMiddleType::kNone:
      return UNetMiddle::kNone;
    case UNetMiddleType::kResnet:
      return UNetMiddle::kOneResnet;
    case UNetMiddleType::kCrossAttention:
      break;
  }
  return UNetMiddle::kAttention;
}

UNetTimeOptions TrunkTime(const UNetTrunkConfig& config) {
  return {.sinusoids = config.block_out_channels[0],
          .features = TimeFeatures(config),
          .cosine_first = config.flip_sin_to_cos,
          .frequency_shift = config.freq_shift,
          .classes = config.num_class_embeds,
          .added_inputs = HasAdded(config) ? config.projection_class_embeddings_input_dim : 0,
          .added_sinusoids = config.addition_time_embed_dim};
}

NetworkInputs TrunkInputs(const UNetTrunkConfig& config) {
  const std::int64_t multiple = DownsamplingOf(config.block_out_channels.size());
  NetworkInputs inputs = {{.name = "x",
                           .role = InputRole::kSample,
                           .shape = {config.sample_size, config.sample_size, config.in_channels},
                           .free_axes = {0, 1},
                           .multiples = {multiple, multiple, 1}},
                          {.name = "t", .role = InputRole::kTime},
                          {.name = "context",
                           .role = InputRole::kValues,
                           .shape = {kWords, config.cross_attention_dim[0]},
                           .free_axes = {0}}};
  if (config.num_class_embeds > 0) {
    inputs.push_back(
        {.name = "class_labels", .role = InputRole::kLabel, .classes = config.num_class_embeds});
  }
  return inputs;
}

NetworkInputs AddedInputs(const UNetTrunkConfig& config) {
  if (!HasAdded(config)) return {};
  return {{.name = "text_embeds",
           .role = InputRole::kValues,
           .shape = {TextFeaturesOf(config)},
           .free_axes = {0}},
          {.name = "time_ids",
           .role = InputRole::kNumbers,
           .shape = {NumbersOf(config)},
           .free_axes = {0}}};
}

UNetTime::Conditions ConditionsIn(const UNetTrunkConfig& config, const VarTuple& vars) {
  UNetTime::Conditions conditions{.t = vars[1]};
  if (config.num_class_embeds > 0) conditions.labels = vars[3];
  if (!HasAdded(config)) return conditions;
  conditions.text_embeds = vars[vars.size() - 2];
  conditions.time_ids = vars.back();
  return conditions;
}

TrunkParts::TrunkParts(const char* family, const UNetTrunkConfig& config, ContextUse context)
    : config_(config), context_(context) {
  const std::size_t stages = config.block_out_channels.size();
  heads_ = PerStage(family, "attention_head_dim", config.attention_head_dim, stages);
  transformers_ =
      PerStage(family, "transformer_layers_per_block", config.transformer_layers_per_block, stages);
}

void TrunkParts::AppendResnet(Sequential& net, const std::string& path,
                              const ResnetPlace& place) const {
  const ResnetBlockOptions options{.inputs = place.inputs,
                                   .outputs = place.outputs,
                                   .time_features = TimeFeatures(config_),
                                   .groups = config_.norm_num_groups,
                                   .eps = config_.norm_eps};
  net.Append(path, std::make_unique<UNetResnet>(options, place.skips));
}

// The middle attends to itself also where the stages attend to the context only.
void TrunkParts::AppendAttention(Sequential& net, const std::string& path,
                                 const AttentionPlace& place) const {
  const bool only = config_.only_cross_attention && place.part != UNetPart::kMiddle;
  AppendSpatialTransformer(net, path,
                           {.channels = place.channels,
                            .heads = heads_[place.stage],
                            .layers = transformers_[place.stage],
                            .context_features = config_.cross_attention_dim[0],
                            .groups = config_.norm_num_groups,
                            .only_context = only,
                            .linear_projection = config_.use_linear_projection,
                            .context = context_},
                           place.skips);
}

void TrunkParts::AppendDownsampler(Sequential& net, const std::string& path,
                                   const DownsamplerPlace& place) const {
  net.Append(path, std::make_unique<UNetDownsampler>(place, config_.downsample_padding));
}

void TrunkParts::AppendUpsampler(Sequential& net, const std::string& path,
                                 std::int64_t channels) const {
  net.Append(path, std::make_unique<UNetUpsampler>(channels));
}

}  // namespace frugal::architectures
