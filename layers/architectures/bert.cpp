#include "layers/architectures/bert.h"

#include "layers/blocks/parts.h"
#include "layers/embedding.h"
#include "layers/norms.h"
#include "layers/types/family_row.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal {
namespace {

using namespace architectures;

// Adds the row of type 0 to every token.
class TokenTypes final : public Layer {
 public:
  TokenTypes(std::int64_t types, std::int64_t features)
      : weight_(AddParameter("weight", {types, features}, Initializer::Normal(0, 0.02))) {}

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override {
    return "token types, " + std::to_string(weight_.shape[0]) + ", all tokens of the first";
  }

 private:
  Var Forward(Context& context, const Var& input) override {
    const Var row = Slice(context, ValueOf(context, weight_), {{.axis = 0, .begin = 0, .end = 1}});
    return Arithmetic(context, BinaryKind::kAdd, input, row);
  }

  Parameter& weight_;
};

void Check(const BertConfig& config) {
  CheckAtLeast("bert", "vocab_size", config.vocab_size);
  CheckAtLeast("bert", "hidden_size", config.hidden_size);
  CheckAtLeast("bert", "intermediate_size", config.intermediate_size);
  CheckAtLeast("bert", "num_hidden_layers", config.num_hidden_layers, 0);
  CheckHeads("bert", "num_attention_heads", config.num_attention_heads, config.hidden_size);
  CheckAtLeast("bert", "max_position_embeddings", config.max_position_embeddings);
  CheckAtLeast("bert", "type_vocab_size", config.type_vocab_size);
}

std::unique_ptr<Layer> MakeNorm(const BertConfig& config) {
  return std::make_unique<LayerNormLayer>(config.hidden_size,
                                          LayerNormOptions{.eps = config.layer_norm_eps});
}

std::unique_ptr<Sequential> MakeAttentionPart(const BertConfig& config) {
  auto body = std::make_unique<Sequential>();
  const AttentionLayerOptions options{.heads = config.num_attention_heads, .fused = false};
  body->Append("attention",
               std::make_unique<AttentionLayer>(config.hidden_size, options,
                                                AttentionNames{.query = "self.query",
                                                               .key = "self.key",
                                                               .value = "self.value",
                                                               .output = "output.dense"}));
  AppendDropout(*body, "attention.output.dropout", config.hidden_dropout_prob);
  return body;
}

std::unique_ptr<Sequential> MakeFeedForwardPart(const BertConfig& config) {
  auto body = std::make_unique<Sequential>();
  body->Append("intermediate.dense",
               MakeProjection(config.hidden_size, {.outputs = config.intermediate_size,
                                                   .activation = Activation::kGelu}));
  body->Append("output.dense",
               MakeProjection(config.intermediate_size, {.outputs = config.hidden_size}));
  AppendDropout(*body, "output.dropout", config.hidden_dropout_prob);
  return body;
}

// Norms behind the sums.
std::unique_ptr<Sequential> MakeBlock(const BertConfig& config) {
  auto block = std::make_unique<Sequential>();
  AppendResidual(*block, "around_attention", MakeAttentionPart(config));
  block->Append("attention.output.LayerNorm", MakeNorm(config));
  AppendResidual(*block, "around_feed_forward", MakeFeedForwardPart(config));
  block->Append("output.LayerNorm", MakeNorm(config));
  return block;
}

}  // namespace

std::unique_ptr<Sequential> MakeBert(const BertConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->Append("embeddings.word_embeddings", std::make_unique<TokenEmbedding>(EmbeddingOptions{
                                                .vocabulary = config.vocab_size,
                                                .units = config.hidden_size,
                                                .padding_token = config.pad_token_id}));
  net->Append(
      "embeddings.position_embeddings",
      std::make_unique<LearnedPositions>(
          config.hidden_size, PositionOptions{.positions = config.max_position_embeddings}));
  net->Append("embeddings.token_type_embeddings",
              std::make_unique<TokenTypes>(config.type_vocab_size, config.hidden_size));
  net->Append("embeddings.LayerNorm", MakeNorm(config));
  AppendDropout(*net, "embeddings.dropout", config.hidden_dropout_prob);
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
    net->Append("encoder.layer." + std::to_string(i), MakeBlock(config));
  }
  return net;
}

namespace {

NominalSamples SamplesOf(const BertConfig& config) {
  return {.sample = {config.max_position_embeddings}, .vocabulary = config.vocab_size};
}

}  // namespace

ArchitectureFamily BertFamily() {
  using C = BertConfig;
  return FamilyRow<BertConfig>(
      "bert",
      {SizeField("vocab_size", &C::vocab_size, "Tokens."),
       SizeField("hidden_size", &C::hidden_size, "Features."),
       SizeField("intermediate_size", &C::intermediate_size, "Features inside."),
       CountField("num_hidden_layers", &C::num_hidden_layers, "Blocks."),
       SizeField("num_attention_heads", &C::num_attention_heads, "Heads."),
       SizeField("max_position_embeddings", &C::max_position_embeddings, "The longest sequence."),
       SizeField("type_vocab_size", &C::type_vocab_size, "Types of tokens."),
       MakeField("pad_token_id", &C::pad_token_id, "A token whose row is not trained; -1: none.",
                 {.min = -1, .max = kMostPerAxis}),
       EpsilonField("layer_norm_eps", &C::layer_norm_eps),
       RateField("hidden_dropout_prob", &C::hidden_dropout_prob, "Dropout before each sum.")},
      MakeBert, SamplesOf);
}

}  // namespace frugal
