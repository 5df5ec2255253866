#include "builders/config/layer_list.h"

namespace frugal {

std::vector<LayerSpec> SpecsOf(const LayerList::Fill& fill) {
  LayerList list;
  if (fill) fill(list);
  return list.specs();
}

LayerList& LayerList::AddSpec(LayerOptions options, std::string name, std::vector<LayerSpec> layers,
                              std::vector<LayerSpec> shortcut) {
  specs_.push_back({.options = std::move(options),
                    .name = std::move(name),
                    .layers = std::move(layers),
                    .shortcut = std::move(shortcut)});
  return *this;
}

LayerList& LayerList::AddMade(LayerOptions options, LayerMaker make, std::string type_name,
                              std::string name) {
  specs_.push_back({.options = std::move(options),
                    .name = std::move(name),
                    .layers = {},
                    .shortcut = {},
                    .make = std::move(make),
                    .type_name = std::move(type_name)});
  return *this;
}

LayerList& LayerList::Custom(std::string name, Maker make) {
  if (!make) {
    throw UsageError({.where = "LayerList::Custom",
                      .required = "a function makes the layer",
                      .given = "the one of \"" + name + "\" is empty",
                      .advice = {}});
  }
  return AddMade(
      CustomLayerOptions(),
      [make = std::move(make)](const LayerOptions&, const Shape& input) { return make(input); },
      "custom", std::move(name));
}

LayerList& LayerList::Dense(const DenseOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::Activation(ActivationFunction function, std::string name) {
  return AddSpec(ActivationOptions{function}, std::move(name));
}
LayerList& LayerList::Dropout(double rate, std::string name) {
  return AddSpec(DropoutOptions{rate}, std::move(name));
}
LayerList& LayerList::Flatten(std::string name) {
  return AddSpec(FlattenOptions(), std::move(name));
}

LayerList& LayerList::Conv1d(const Conv1dOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::Conv2d(const Conv2dOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::Conv3d(const Conv3dOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::ConvTranspose1d(const ConvTranspose1dOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::ConvTranspose2d(const ConvTranspose2dOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::ConvTranspose3d(const ConvTranspose3dOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}

LayerList& LayerList::MaxPool2d(const Pool2dOptions& options, std::string name) {
  return AddSpec(MaxPool2dOptions{options}, std::move(name));
}
LayerList& LayerList::AveragePool2d(const Pool2dOptions& options, std::string name) {
  return AddSpec(AveragePool2dOptions{options}, std::move(name));
}
LayerList& LayerList::AdaptiveAveragePool2d(const AdaptivePool2dOptions& options,
                                            std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::Upsample(const UpsampleOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}

LayerList& LayerList::BatchNorm(const BatchNormOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::LayerNorm(const LayerNormOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::RmsNorm(const RmsNormOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::GroupNorm(const GroupNormOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}

LayerList& LayerList::ToSequence(std::string name) {
  return AddSpec(ToSequenceOptions(), std::move(name));
}
LayerList& LayerList::Lstm(const RecurrentOptions& options, std::string name) {
  return AddSpec(LstmOptions{options}, std::move(name));
}
LayerList& LayerList::Gru(const RecurrentOptions& options, std::string name) {
  return AddSpec(GruOptions{options}, std::move(name));
}
LayerList& LayerList::SequencePool(const SequencePoolOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}

LayerList& LayerList::Embedding(const EmbeddingOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::LearnedPositions(const PositionOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::SinusoidalPositions(const SinusoidOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::Attention(const AttentionLayerOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}
LayerList& LayerList::GatedFeedForward(const GatedFeedForwardOptions& options, std::string name) {
  return AddSpec(options, std::move(name));
}

LayerList& LayerList::Residual(const ResidualOptions& options, const Fill& body,
                               const Fill& shortcut, std::string name) {
  return AddSpec(options, std::move(name), SpecsOf(body), SpecsOf(shortcut));
}
LayerList& LayerList::Sequential(const Fill& body, std::string name) {
  return AddSpec(SequentialOptions(), std::move(name), SpecsOf(body));
}
LayerList& LayerList::Branches(const BranchesOptions& options, const Fill& branches,
                               std::string name) {
  return AddSpec(options, std::move(name), SpecsOf(branches));
}
LayerList& LayerList::Save(std::string as) { return AddSpec(SaveOptions{std::move(as)}, {}); }
LayerList& LayerList::Join(const JoinOptions& options) { return AddSpec(options, {}); }
LayerList& LayerList::Take(std::string value) { return AddSpec(TakeOptions{std::move(value)}, {}); }
LayerList& LayerList::Again(std::string layer) {
  return AddSpec(AgainOptions{std::move(layer)}, {});
}
LayerList& LayerList::Output(std::string name, const NetworkOutputOptions& options,
                             const Fill& body) {
  return AddSpec(options, std::move(name), SpecsOf(body));
}

}  // namespace frugal
