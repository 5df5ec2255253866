// Layers of transformers as TOML and LayerList know them, and what tokens may go into.
#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

DataLayout TextLayout() {
  return {.sample_shape = {6},
          .classes = 11,
          .target_shape = {},
          .train_count = 64,
          .test_count = 0,
          .vocabulary = 11,
          .label_shape = {6}};
}

// A line for every layer, then one for every parameter.
std::string Described(const RunConfig& config, const DataLayout& layout = TextLayout()) {
  const PlannedTraining planned = PlanTraining(config, &layout);
  std::string text;
  for (const LayerPlan& layer : planned.plan.layers) {
    text += layer.path + ": " + layer.description + " " + ToString(layer.output) + "\n";
  }
  for (const Parameter* parameter : planned.parameters) {
    text += parameter->path + " " + ToString(parameter->shape) + "\n";
  }
  return text;
}

constexpr const char* kTransformer = R"(
[[model.layers]]
type = "embedding"
vocabulary = 11
units = 8
init_std = 0.5
padding_token = 3
[[model.layers]]
type = "learned_positions"
positions = 6
init_std = 0.25
[[model.layers]]
type = "sinusoidal_positions"
base = 100.0
[[model.layers]]
type = "residual"
[[model.layers.layers]]
type = "attention"
heads = 4
key_heads = 2
head_size = 6
causal = true
bias = false
rotary_base = 500.0
[[model.layers]]
type = "gated_feed_forward"
hidden = 5
activation = "gelu"
bias = true
[[model.layers]]
type = "dense"
units = 11
)";

void Transformer(LayerList& l) {
  l.Embedding({.vocabulary = 11, .units = 8, .init_std = 0.5, .padding_token = 3});
  l.LearnedPositions({.positions = 6, .init_std = 0.25}).SinusoidalPositions({.base = 100});
  l.Residual({}, [](LayerList& body) {
    body.Attention({.heads = 4,
                    .key_heads = 2,
                    .head_size = 6,
                    .causal = true,
                    .bias = false,
                    .rotary_base = 500});
  });
  l.GatedFeedForward({.hidden = 5, .activation = Activation::kGelu, .bias = true});
  l.Dense({.units = 11});
}

TEST_CASE("TOML and code describe the same transformer") {
  AiModelBuilder builder;
  builder.Layers(Transformer);
  const std::string text = Described(builder.config());
  CHECK(Described(ReadRunConfigText(kTransformer, "run.toml")) == text);
  CheckContains(text, "0: embedding of 11 tokens in 8 features [64, 6, 8]");
  CheckContains(text, "3.0.qkv.weight [48, 8]");  // 4 query, 2 key and 2 value heads of 6
  CheckContains(text, "3.0.out.weight [8, 24]");
  CheckContains(text, "4.gate_proj.bias [5]");
}

TEST_CASE("every field of a transformer's layers arrives in its options") {
  const auto layers = ReadRunConfigText(kTransformer, "run.toml").model.layers;
  const auto& embedding = *layers[0].options.As<EmbeddingOptions>();
  CHECK(embedding.init_std == 0.5);
  CHECK(embedding.padding_token == 3);
  CHECK(layers[1].options.As<PositionOptions>()->init_std == 0.25);
  CHECK(layers[2].options.As<SinusoidOptions>()->base == 100);
  const auto& attention = *layers[3].layers[0].options.As<AttentionLayerOptions>();
  CHECK(attention.key_heads == 2);
  CHECK(attention.head_size == 6);
  CHECK(attention.causal);
  CHECK_FALSE(attention.bias);
  CHECK(attention.rotary_base == 500);
  CHECK(attention.fused);
  const auto& gated = *layers[4].options.As<GatedFeedForwardOptions>();
  CHECK(gated.activation.kind == Activation::kGelu);
  CHECK(gated.bias);
}

std::string TransformerRefusal(const std::string& layers, const DataLayout& layout = TextLayout()) {
  try {
    Described(ReadRunConfigText(layers, "run.toml"), layout);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("wrong values of a transformer's layers are refused where they stand") {
  const auto first = [](const std::string& rest) { return "[[model.layers]]\ntype = " + rest; };
  CheckContains(TransformerRefusal(first("\"embedding\"\nunits = 2")),
                "key 'vocabulary' is required");
  CheckContains(TransformerRefusal(first("\"embedding\"\nvocabulary = 2")),
                "key 'units' is required");
  CheckContains(TransformerRefusal(first("\"embedding\"\nvocabulary = 11\nunits = 0")),
                "'units' must be");
  CheckContains(
      TransformerRefusal(first("\"embedding\"\nvocabulary = 11\nunits = 2\npadding_token = 11")),
      "[model.layers.0 (embedding)] padding_token is one of the 11 tokens, counted from 0; "
      "padding_token = 11; leave it out");
  CheckContains(TransformerRefusal(first("\"learned_positions\"")), "key 'positions' is required");
  CheckContains(TransformerRefusal(first("\"sinusoidal_positions\"\nbase = 0")), "'base' must be");
  CheckContains(TransformerRefusal(first("\"attention\"\nheads = 0")), "'heads' must be");
  CheckContains(TransformerRefusal(first("\"attention\"\nrotary_base = -1")),
                "'rotary_base' must be");
  CheckContains(TransformerRefusal(first("\"gated_feed_forward\"")), "key 'hidden' is required");
}

const std::string kEmbedding =
    "[[model.layers]]\ntype = \"embedding\"\nvocabulary = 11\nunits = 6\n";

TEST_CASE("a transformer's layers that do not fit are named with their place") {
  const auto behind = [](const std::string& rest) {
    return kEmbedding + "[[model.layers]]\ntype = " + rest;
  };
  const std::string attention = "run.toml:5:1: [model.layers.1 (attention)] ";
  CHECK(TransformerRefusal(behind("\"attention\"\nheads = 4")) ==
        attention + "heads divide the 6 features; heads = 4; choose a divisor, or give head_size");
  CHECK(TransformerRefusal(behind("\"attention\"\nheads = 2\nkey_heads = 3")) ==
        attention + "key_heads divide the 2 heads; key_heads = 3; choose a divisor of the heads");
  CHECK(TransformerRefusal(behind("\"attention\"\nheads = 2\nrotary_base = 10.0")) ==
        attention +
            "rotary positions rotate heads of an even size; head_size = 3; choose an "
            "even size");
  CHECK(TransformerRefusal(behind("\"learned_positions\"\npositions = 5")) ==
        "run.toml:5:1: [model.layers.1 (learned_positions)] sequences have at most 5 positions; "
        "the input is [64, 6, 6]; use shorter sequences, or a larger table of positions");
  DataLayout odd = TextLayout();
  CheckContains(
      TransformerRefusal("[[model.layers]]\ntype = \"embedding\"\nvocabulary = 11\nunits = 3\n"
                         "[[model.layers]]\ntype = \"sinusoidal_positions\"",
                         odd),
      "[model.layers.1 (sinusoidal_positions)] sinusoidal positions take an even number");
}

TEST_CASE("tokens go into an embedding, at whatever depth, and into nothing that takes values") {
  const std::string given = "the layer takes values; the input is token numbers [64, 6]; ";
  const std::string advice = "put an embedding before it, or use other data";
  CHECK(TransformerRefusal("[[model.layers]]\ntype = \"dense\"\nunits = 11") ==
        "run.toml:1:1: [model.layers.0 (dense)] " + given + advice);
  CHECK(TransformerRefusal("[[model.layers]]\ntype = \"sequential\"\n"
                           "[[model.layers.layers]]\ntype = \"layer_norm\"") ==
        "run.toml:3:1: [model.layers.0.layers.0 (layer_norm)] " + given + advice);
  CheckContains(TransformerRefusal(kEmbedding, SyntheticLayout()),
                "run.toml:1:1: [model.layers.0 (embedding)] an embedding takes token numbers (i64);"
                " the input is [64, 8, 8, 2]; give it text");
  const std::string inner =
      "[[model.layers.layers]]\ntype = \"embedding\"\nvocabulary = 11\n"
      "units = 11\n";
  const std::string around =
      "[[model.layers.shortcut]]\ntype = \"embedding\"\n"
      "vocabulary = 11\nunits = 11\n";
  CHECK(TransformerRefusal("[[model.layers]]\ntype = \"sequential\"\n" + inner) == "accepted");
  CHECK(TransformerRefusal("[[model.layers]]\ntype = \"residual\"\n" + inner + around) ==
        "accepted");
  CheckContains(TransformerRefusal("[[model.layers]]\ntype = \"residual\"\n" + inner),
                "both branches end in one shape");
}

std::string ArchitectureRefusal(const ArchitectureConfig& config, const DataLayout& layout) {
  AiModelBuilder builder;
  builder.Architecture(config);
  return MessageOf<ShapeError>([&] { Described(builder.config(), layout); });
}

TEST_CASE("architectures refuse data of the other kind when they are planned") {
  const std::string tokens =
      "the layer takes values; the input is token numbers [64, 6]; put an "
      "embedding before it, or use other data";
  CHECK(ArchitectureRefusal(ResNetConfig{.layers = {1}}, TextLayout()) == "[conv1] " + tokens);
  CHECK(ArchitectureRefusal(VitConfig{.num_hidden_layers = 1}, TextLayout()) ==
        "[vit.embeddings] " + tokens);
  const std::string images =
      "an embedding takes token numbers (i64); the input is [64, 8, 8, 2]; "
      "give it text, or leave it out where the data are images";
  CHECK(ArchitectureRefusal(Gpt2Config{.n_layer = 1}, SyntheticLayout()) ==
        "[transformer.wte] " + images);
  CHECK(ArchitectureRefusal(LlamaConfig{.num_hidden_layers = 1}, SyntheticLayout()) ==
        "[model.embed_tokens] " + images);
  CHECK(ArchitectureRefusal(BertConfig{.num_hidden_layers = 1}, SyntheticLayout()) ==
        "[embeddings.word_embeddings] " + images);
}

}  // namespace
}  // namespace frugal::testing
