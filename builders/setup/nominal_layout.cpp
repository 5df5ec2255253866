#include "builders/setup/nominal_layout.h"

#include "sdk/core/error.h"

namespace frugal {
namespace {

// A network over tokens: whether it ends in logits over its vocabulary, and its sizes.
struct TokenSizes {
  bool has_logits = true;
  std::int64_t vocabulary = 0;
  std::int64_t longest = 0;
};

std::optional<TokenSizes> TokenSizesOf(const ArchitectureConfig& config) {
  if (const auto* gpt2 = std::get_if<Gpt2Config>(&config)) {
    return TokenSizes{true, gpt2->vocab_size, gpt2->n_positions};
  }
  if (const auto* llama = std::get_if<LlamaConfig>(&config)) {
    return TokenSizes{true, llama->vocab_size, llama->max_position_embeddings};
  }
  if (const auto* bert = std::get_if<BertConfig>(&config)) {
    return TokenSizes{false, bert->vocab_size, bert->max_position_embeddings};
  }
  return std::nullopt;
}

NominalLayout TokenLayout(const TokenSizes& sizes, std::int64_t sequence_length) {
  const std::int64_t length = sequence_length > 0 ? sequence_length : sizes.longest;
  NominalLayout natural;
  natural.has_labels = sizes.has_logits;
  natural.layout.sample_shape = {length};
  natural.layout.vocabulary = sizes.vocabulary;
  if (sizes.has_logits) {
    natural.layout.classes = sizes.vocabulary;
    natural.layout.label_shape = {length};
  }
  return natural;
}

NominalLayout ImageLayout(const Shape& image, std::int64_t classes) {
  NominalLayout natural;
  natural.has_labels = true;
  natural.layout.sample_shape = image;
  natural.layout.classes = classes;
  return natural;
}

// ImageNet's images, or those that the small stem is for.
NominalLayout ImageLayout(const ResNetConfig& config) {
  const std::int64_t side = config.small_stem ? 32 : 224;
  return ImageLayout({side, side, config.in_channels}, config.num_classes);
}

}  // namespace

NominalLayout NominalLayoutOf(const ArchitectureConfig& config, const Sequential& network,
                              std::int64_t sequence_length) {
  if (const auto sizes = TokenSizesOf(config)) return TokenLayout(*sizes, sequence_length);
  if (const auto* vit = std::get_if<VitConfig>(&config)) {
    return ImageLayout({vit->image_size, vit->image_size, vit->num_channels}, vit->num_labels);
  }
  if (const auto* resnet = std::get_if<ResNetConfig>(&config)) return ImageLayout(*resnet);
  const NetworkInputs& inputs = network.inputs();
  if (inputs.empty()) {
    throw ConfigError({.where = "model",
                       .required = "a plan without data needs to know what the network takes",
                       .given = "the family " + FamilyOf(config).name + " does not say",
                       .advice = "describe data in [data] of a configuration file"});
  }
  NominalLayout natural;
  natural.layout.sample_shape = inputs.front().shape;
  natural.layout.conditions.assign(inputs.begin() + 1, inputs.end());
  return natural;
}

}  // namespace frugal
