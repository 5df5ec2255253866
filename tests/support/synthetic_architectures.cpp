#include "sdk/core/error.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {

std::vector<std::string> ArchitectureNames() {
  return {"gpt2", "llama", "bert", "vit", "resnet18"};
}

ArchitectureConfig ArchitectureOf(const std::string& name, double dropout) {
  if (name == "gpt2") {
    return Gpt2Config{.vocab_size = 13,
                      .n_positions = 8,
                      .n_embd = 8,
                      .n_layer = 2,
                      .n_head = 2,
                      .embd_pdrop = dropout,
                      .resid_pdrop = dropout};
  }
  if (name == "llama") {
    return LlamaConfig{.vocab_size = 13,
                       .hidden_size = 8,
                       .intermediate_size = 12,
                       .num_hidden_layers = 2,
                       .num_attention_heads = 4,
                       .num_key_value_heads = 2,
                       .max_position_embeddings = 8};
  }
  if (name == "bert") {
    return BertConfig{.vocab_size = 13,
                      .hidden_size = 8,
                      .intermediate_size = 16,
                      .num_hidden_layers = 2,
                      .num_attention_heads = 2,
                      .max_position_embeddings = 8,
                      .hidden_dropout_prob = dropout};
  }
  if (name == "vit") {
    return VitConfig{.image_size = 8,
                     .patch_size = 4,
                     .num_channels = 2,
                     .hidden_size = 8,
                     .intermediate_size = 16,
                     .num_hidden_layers = 2,
                     .num_attention_heads = 2,
                     .num_labels = 5,
                     .hidden_dropout_prob = dropout};
  }
  return ResNetConfig{
      .layers = {1, 1}, .width = 4, .num_classes = 5, .in_channels = 2, .small_stem = true};
}

DataLayout LayoutFor(const std::string& name) {
  if (name == "gpt2" || name == "llama") return SyntheticTextLayout({});
  if (name == "bert") return SyntheticTextLayout({.features = 8});
  return SyntheticLayout();
}

}  // namespace frugal::testing
