#include "layers/architectures/llama.h"

#include "layers/blocks/parts.h"
#include "layers/embedding.h"
#include "layers/gated_feed_forward.h"
#include "layers/norms.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using namespace architectures;

[[noreturn]] void Refuse(const std::string& key, const std::string& required, std::int64_t given,
                         const std::string& advice) {
  throw ConfigError({.where = "llama." + key,
                     .required = required,
                     .given = std::to_string(given),
                     .advice = advice});
}

void CheckHeadSizes(const LlamaConfig& config) {
  const std::int64_t heads = config.num_attention_heads;
  const std::int64_t key_heads = config.num_key_value_heads.value_or(heads);
  if (heads % key_heads != 0) {
    Refuse("num_key_value_heads", "key heads divide the " + std::to_string(heads) + " heads",
           key_heads, "choose a divisor of " + std::to_string(heads));
  }
  const std::int64_t size = config.head_dim.value_or(config.hidden_size / heads);
  if (size % 2 != 0) {
    Refuse("head_dim", "rotary positions rotate heads of an even size", size,
           "change head_dim, or hidden_size and num_attention_heads");
  }
}

void Check(const LlamaConfig& config) {
  CheckAtLeast("llama", "vocab_size", config.vocab_size);
  CheckAtLeast("llama", "hidden_size", config.hidden_size);
  CheckAtLeast("llama", "intermediate_size", config.intermediate_size);
  CheckAtLeast("llama", "num_hidden_layers", config.num_hidden_layers, 0);
  CheckAtLeast("llama", "num_attention_heads", config.num_attention_heads);
  if (!config.head_dim) {
    CheckHeads("llama", "num_attention_heads", config.num_attention_heads, config.hidden_size);
  }
  CheckAtLeast("llama", "num_key_value_heads", config.num_key_value_heads.value_or(1));
  CheckAtLeast("llama", "max_position_embeddings", config.max_position_embeddings);
  CheckHeadSizes(config);
}

std::unique_ptr<Layer> MakeNorm(const LlamaConfig& config) {
  return std::make_unique<RmsNormLayer>(config.hidden_size,
                                        RmsNormOptions{.eps = config.rms_norm_eps});
}

std::unique_ptr<Sequential> MakeAttentionPart(const LlamaConfig& config) {
  auto body = std::make_unique<Sequential>();
  body->Append("input_layernorm", MakeNorm(config));
  const AttentionLayerOptions options{.heads = config.num_attention_heads,
                                      .key_heads = config.num_key_value_heads.value_or(0),
                                      .head_size = config.head_dim.value_or(0),
                                      .causal = true,
                                      .bias = config.attention_bias,
                                      .fused = false,
                                      .rotary_base = config.rope_theta,
                                      .longest = config.max_position_embeddings};
  body->Append("self_attn",
               std::make_unique<AttentionLayer>(
                   config.hidden_size, options,
                   AttentionNames{
                       .query = "q_proj", .key = "k_proj", .value = "v_proj", .output = "o_proj"}));
  return body;
}

std::unique_ptr<Sequential> MakeFeedForwardPart(const LlamaConfig& config) {
  auto body = std::make_unique<Sequential>();
  body->Append("post_attention_layernorm", MakeNorm(config));
  body->Append("mlp", std::make_unique<GatedFeedForward>(
                          config.hidden_size,
                          GatedFeedForwardOptions{.hidden = config.intermediate_size,
                                                  .activation = Activation::kSilu,
                                                  .bias = config.mlp_bias},
                          GatedFeedForwardNames{}));
  return body;
}

}  // namespace

std::unique_ptr<Sequential> MakeLlama(const LlamaConfig& config) {
  Check(config);
  auto tokens = std::make_unique<TokenEmbedding>(
      EmbeddingOptions{.vocabulary = config.vocab_size, .units = config.hidden_size});
  Parameter& table = tokens->weight();
  auto net = std::make_unique<Sequential>();
  net->Append("model.embed_tokens", std::move(tokens));
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
    auto block = std::make_unique<Sequential>();
    AppendResidual(*block, "attention", MakeAttentionPart(config));
    AppendResidual(*block, "feed_forward", MakeFeedForwardPart(config));
    net->Append("model.layers." + std::to_string(i), std::move(block));
  }
  net->Append("model.norm", MakeNorm(config));
  if (config.tie_word_embeddings) {
    net->Append("lm_head", std::make_unique<TiedProjection>(table));
  } else {
    net->Append("lm_head",
                MakeProjection(config.hidden_size, {.outputs = config.vocab_size, .bias = false}));
  }
  return net;
}

namespace {

NominalSamples SamplesOf(const LlamaConfig& config) {
  return {.sample = {config.max_position_embeddings},
          .vocabulary = config.vocab_size,
          .classes = config.vocab_size};
}

}  // namespace

ArchitectureFamily LlamaFamily() {
  using C = LlamaConfig;
  return FamilyRow<LlamaConfig>(
      "llama",
      {SizeField("vocab_size", &C::vocab_size, "Tokens."),
       SizeField("hidden_size", &C::hidden_size, "Features."),
       SizeField("intermediate_size", &C::intermediate_size, "Features inside."),
       CountField("num_hidden_layers", &C::num_hidden_layers, "Blocks."),
       SizeField("num_attention_heads", &C::num_attention_heads, "Heads."),
       SizeField("num_key_value_heads", &C::num_key_value_heads, "Key heads; none: as heads."),
       SizeField("head_dim", &C::head_dim, "Size of a head; none: features / heads."),
       SizeField("max_position_embeddings", &C::max_position_embeddings, "The longest sequence."),
       EpsilonField("rms_norm_eps", &C::rms_norm_eps),
       MakeField("rope_theta", &C::rope_theta, "Base of the rotary angles.",
                 {.min = 0, .min_exclusive = true}),
       MakeField("attention_bias", &C::attention_bias, "Whether attention has biases."),
       MakeField("mlp_bias", &C::mlp_bias, "Whether the feed-forward part has biases."),
       MakeField("tie_word_embeddings", &C::tie_word_embeddings,
                 "Whether the head is the embedding's table.")},
      MakeLlama, SamplesOf);
}

}  // namespace frugal
