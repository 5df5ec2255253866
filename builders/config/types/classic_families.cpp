#include "builders/config/types/architecture_families.h"
#include "builders/config/types/size_fields.h"

namespace frugal {
namespace {

FieldTable Gpt2Fields() {
  using C = Gpt2Config;
  return MakeFieldTable<C>(
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
                 "Whether the head is the embedding's table.")});
}

FieldTable LlamaFields() {
  using C = LlamaConfig;
  return MakeFieldTable<C>(
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
                 "Whether the head is the embedding's table.")});
}

FieldTable BertFields() {
  using C = BertConfig;
  return MakeFieldTable<C>(
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
       RateField("hidden_dropout_prob", &C::hidden_dropout_prob, "Dropout before each sum.")});
}

FieldTable VitFields() {
  using C = VitConfig;
  return MakeFieldTable<C>(
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
       RateField("hidden_dropout_prob", &C::hidden_dropout_prob, "Dropout before each sum.")});
}

FieldTable ResNetFields() {
  using C = ResNetConfig;
  return MakeFieldTable<C>(
      "resnet",
      {MakeChoice("block", &C::block, "Two 3x3 convolutions, or 1x1, 3x3, 1x1.",
                  {{"basic", ResNetBlock::kBasic}, {"bottleneck", ResNetBlock::kBottleneck}}),
       MakeField("layers", &C::layers, "Blocks of each stage.",
                 {.min = 1, .max = 1000, .min_items = 1, .max_items = 16}),
       SizeField("width", &C::width, "Channels of the first stage."),
       SizeField("num_classes", &C::num_classes, "Classes."),
       SizeField("in_channels", &C::in_channels, "Of an image."),
       MakeField("small_stem", &C::small_stem, "A 3x3 stem without pooling, for small images.")});
}

}  // namespace

std::vector<ArchitectureFamily> ClassicFamilies() {
  return {RowOf<Gpt2Config>("gpt2", Gpt2Fields(), MakeGpt2),
          RowOf<LlamaConfig>("llama", LlamaFields(), MakeLlama),
          RowOf<BertConfig>("bert", BertFields(), MakeBert),
          RowOf<VitConfig>("vit", VitFields(), MakeVit),
          RowOf<ResNetConfig>("resnet", ResNetFields(), MakeResNet)};
}

}  // namespace frugal
