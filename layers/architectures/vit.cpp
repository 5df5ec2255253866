#include "layers/architectures/vit.h"

#include "layers/blocks/parts.h"
#include "layers/norms.h"
#include "layers/patch_embedding.h"
#include "layers/sequence_layers.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using namespace architectures;

void Check(const VitConfig& config) {
  CheckAtLeast("vit", "image_size", config.image_size);
  CheckAtLeast("vit", "patch_size", config.patch_size);
  CheckAtLeast("vit", "num_channels", config.num_channels);
  CheckAtLeast("vit", "hidden_size", config.hidden_size);
  CheckAtLeast("vit", "intermediate_size", config.intermediate_size);
  CheckAtLeast("vit", "num_hidden_layers", config.num_hidden_layers, 0);
  CheckHeads("vit", "num_attention_heads", config.num_attention_heads, config.hidden_size);
  CheckAtLeast("vit", "num_labels", config.num_labels);
  if (config.image_size % config.patch_size == 0) return;
  throw ConfigError({.where = "vit.patch_size",
                     .required = "patches divide the image",
                     .given = "patch_size = " + std::to_string(config.patch_size) +
                              " and image_size = " + std::to_string(config.image_size),
                     .advice = "choose a divisor of the image's size"});
}

std::unique_ptr<Layer> MakeNorm(const VitConfig& config) {
  return std::make_unique<LayerNormLayer>(config.hidden_size,
                                          LayerNormOptions{.eps = config.layer_norm_eps});
}

std::unique_ptr<Sequential> MakeAttentionPart(const VitConfig& config) {
  auto body = std::make_unique<Sequential>();
  body->Append("layernorm_before", MakeNorm(config));
  const AttentionLayerOptions options{.heads = config.num_attention_heads,
                                      .bias = config.qkv_bias,
                                      .output_bias = true,
                                      .fused = false};
  body->Append("attention",
               std::make_unique<AttentionLayer>(
                   config.hidden_size, options,
                   AttentionNames{
                       .query = "q_proj", .key = "k_proj", .value = "v_proj", .output = "o_proj"}));
  AppendDropout(*body, "attention.dropout", config.hidden_dropout_prob);
  return body;
}

std::unique_ptr<Sequential> MakeFeedForwardPart(const VitConfig& config) {
  auto body = std::make_unique<Sequential>();
  body->Append("layernorm_after", MakeNorm(config));
  body->Append("mlp.fc1", MakeProjection(config.hidden_size, {.outputs = config.intermediate_size,
                                                              .activation = Activation::kGelu}));
  body->Append("mlp.fc2",
               MakeProjection(config.intermediate_size, {.outputs = config.hidden_size}));
  AppendDropout(*body, "mlp.dropout", config.hidden_dropout_prob);
  return body;
}

}  // namespace

std::unique_ptr<Sequential> MakeVit(const VitConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->Append("vit.embeddings", std::make_unique<PatchEmbedding>(PatchEmbeddingOptions{
                                    .image_height = config.image_size,
                                    .image_width = config.image_size,
                                    .patch = config.patch_size,
                                    .channels = config.num_channels,
                                    .features = config.hidden_size,
                                }));
  AppendDropout(*net, "vit.embeddings.dropout", config.hidden_dropout_prob);
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
    auto block = std::make_unique<Sequential>();
    AppendResidual(*block, "around_attention", MakeAttentionPart(config));
    AppendResidual(*block, "around_feed_forward", MakeFeedForwardPart(config));
    net->Append("vit.layers." + std::to_string(i), std::move(block));
  }
  net->Append("vit.layernorm", MakeNorm(config));
  net->Append("class_token", std::make_unique<SequencePoolLayer>(
                                 SequencePoolOptions{.mode = SequencePooling::kFirst}));
  net->Append("classifier", MakeProjection(config.hidden_size, {.outputs = config.num_labels}));
  return net;
}

namespace {

NominalSamples SamplesOf(const VitConfig& config) {
  return {.sample = {config.image_size, config.image_size, config.num_channels},
          .classes = config.num_labels};
}

}  // namespace

ArchitectureFamily VitFamily() {
  using C = VitConfig;
  return FamilyRow<VitConfig>(
      "vit",
      {SizeField("image_size", &C::image_size, "Height and width of an image."),
       SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
       SizeField("num_channels", &C::num_channels, "Of an image."),
       SizeField("hidden_size", &C::hidden_size, "Features."),
       SizeField("intermediate_size", &C::intermediate_size, "Features inside."),
       CountField("num_hidden_layers", &C::num_hidden_layers, "Blocks."),
       SizeField("num_attention_heads", &C::num_attention_heads, "Heads."),
       SizeField("num_labels", &C::num_labels, "Classes."),
       EpsilonField("layer_norm_eps", &C::layer_norm_eps),
       MakeField("qkv_bias", &C::qkv_bias, "Whether queries, keys and values have biases."),
       RateField("hidden_dropout_prob", &C::hidden_dropout_prob, "Dropout before each sum.")},
      MakeVit, SamplesOf);
}

}  // namespace frugal
