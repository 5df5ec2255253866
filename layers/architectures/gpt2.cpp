#include "layers/architectures/gpt2.h"

#include <cmath>

#include "layers/blocks/parts.h"
#include "layers/embedding.h"
#include "layers/norms.h"
#include "layers/types/family_row.h"

namespace frugal {
namespace {

using namespace architectures;

void Check(const Gpt2Config& config) {
  CheckAtLeast("gpt2", "vocab_size", config.vocab_size);
  CheckAtLeast("gpt2", "n_positions", config.n_positions);
  CheckAtLeast("gpt2", "n_embd", config.n_embd);
  CheckAtLeast("gpt2", "n_layer", config.n_layer, 0);
  CheckHeads("gpt2", "n_head", config.n_head, config.n_embd);
  CheckAtLeast("gpt2", "n_inner", config.n_inner.value_or(1));
}

std::unique_ptr<Layer> MakeNorm(const Gpt2Config& config) {
  return std::make_unique<LayerNormLayer>(config.n_embd,
                                          LayerNormOptions{.eps = config.layer_norm_epsilon});
}

// Returns init_std of weights whose products the blocks sum up; it falls with depth (section 2.3 of
// the paper).
double OutputInitStd(const Gpt2Config& config) {
  return 0.02 / std::sqrt(2.0 * static_cast<double>(std::max<std::int64_t>(1, config.n_layer)));
}

std::unique_ptr<Sequential> MakeAttentionPart(const Gpt2Config& config) {
  auto body = std::make_unique<Sequential>();
  body->Append("ln_1", MakeNorm(config));
  const AttentionLayerOptions options{.heads = config.n_head,
                                      .causal = true,
                                      .layout = WeightLayout::kInOut,
                                      .output_init_std = OutputInitStd(config)};
  body->Append("attn",
               std::make_unique<AttentionLayer>(
                   config.n_embd, options, AttentionNames{.fused = "c_attn", .output = "c_proj"}));
  AppendDropout(*body, "attn.resid_dropout", config.resid_pdrop);
  return body;
}

std::unique_ptr<Sequential> MakeFeedForwardPart(const Gpt2Config& config) {
  const std::int64_t inner = config.n_inner.value_or(4 * config.n_embd);
  auto body = std::make_unique<Sequential>();
  body->Append("ln_2", MakeNorm(config));
  body->Append("mlp.c_fc", MakeProjection(config.n_embd, {.outputs = inner,
                                                          .activation = Activation::kGeluTanh,
                                                          .layout = WeightLayout::kInOut}));
  body->Append("mlp.c_proj", MakeProjection(inner, {.outputs = config.n_embd,
                                                    .layout = WeightLayout::kInOut,
                                                    .init_std = OutputInitStd(config)}));
  AppendDropout(*body, "mlp.dropout", config.resid_pdrop);
  return body;
}

std::unique_ptr<Sequential> MakeBlock(const Gpt2Config& config) {
  auto block = std::make_unique<Sequential>();
  AppendResidual(*block, "attention", MakeAttentionPart(config));
  AppendResidual(*block, "feed_forward", MakeFeedForwardPart(config));
  return block;
}

}  // namespace

std::unique_ptr<Sequential> MakeGpt2(const Gpt2Config& config) {
  Check(config);
  auto tokens = std::make_unique<TokenEmbedding>(
      EmbeddingOptions{.vocabulary = config.vocab_size, .units = config.n_embd});
  Parameter& table = tokens->weight();
  auto net = std::make_unique<Sequential>();
  net->Append("transformer.wte", std::move(tokens));
  net->Append("transformer.wpe",
              std::make_unique<LearnedPositions>(config.n_embd,
                                                 PositionOptions{.positions = config.n_positions}));
  AppendDropout(*net, "transformer.drop", config.embd_pdrop);
  for (std::int64_t i = 0; i < config.n_layer; ++i) {
    net->Append("transformer.h." + std::to_string(i), MakeBlock(config));
  }
  net->Append("transformer.ln_f", MakeNorm(config));
  if (config.tie_word_embeddings) {
    net->Append("lm_head", std::make_unique<TiedProjection>(table));
  } else {
    net->Append("lm_head",
                MakeProjection(config.n_embd, {.outputs = config.vocab_size, .bias = false}));
  }
  return net;
}

namespace {

NominalSamples SamplesOf(const Gpt2Config& config) {
  return {.sample = {config.n_positions},
          .vocabulary = config.vocab_size,
          .classes = config.vocab_size};
}

}  // namespace

ArchitectureFamily Gpt2Family() {
  using C = Gpt2Config;
  return FamilyRow<Gpt2Config>(
      "gpt2",
      {SizeField("vocab_size", &C::vocab_size, "Tokens."),
       SizeField("n_positions", &C::n_positions, "The longest sequence."),
       SizeField("n_embd", &C::n_embd, "Features."), CountField("n_layer", &C::n_layer, "Blocks."),
       SizeField("n_head", &C::n_head, "Heads."),
       SizeField("n_inner", &C::n_inner, "Features inside; none: 4 n_embd."),
       EpsilonField("layer_norm_epsilon", &C::layer_norm_epsilon),
       RateField("embd_pdrop", &C::embd_pdrop, "Dropout behind the embeddings."),
       RateField("resid_pdrop", &C::resid_pdrop, "Dropout before each sum."),
       MakeField("tie_word_embeddings", &C::tie_word_embeddings,
                 "Whether the head is the embedding's table.")},
      MakeGpt2, SamplesOf);
}

}  // namespace frugal
