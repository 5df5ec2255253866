#include "builders/setup/network_inputs.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

NetworkInput OnlyInput(const DataLayout& layout) {
  const bool tokens = layout.vocabulary > 0;
  return {.name = "x",
          .role = tokens ? InputRole::kTokens : InputRole::kSample,
          .shape = layout.sample_shape,
          .classes = layout.vocabulary};
}

[[noreturn]] void RefuseMissing(const NetworkInput& input, bool diffusion) {
  const bool drawn = input.role == InputRole::kTime || input.role == InputRole::kLabel;
  throw ConfigError({.where = "model",
                     .required = "the network takes '" + input.name + "' beside its first input",
                     .given = "nothing provides it",
                     .advice = !diffusion && drawn
                                   ? "write [diffusion] with kind = \"noise\" or \"flow\", or "
                                     "bring data with conditions (DataLayout::conditions)"
                                   : "bring data with conditions (DataLayout::conditions)"});
}

void CheckLabels(const NetworkInput& input, const DataLayout& layout, double dropout) {
  const std::int64_t needed = layout.classes + (dropout > 0 ? 1 : 0);
  if (layout.classes > 0 && layout.label_shape.rank() == 0 && needed <= input.classes) return;
  if (layout.classes == 0 || layout.label_shape.rank() > 0) RefuseMissing(input, true);
  throw ConfigError(
      {.where = "model.config",
       .required = "the network has a label for each of the data's " +
                   std::to_string(layout.classes) + " classes" +
                   (dropout > 0 ? " and one for none (label_dropout)" : ""),
       .given = "input '" + input.name + "' takes " + std::to_string(input.classes) + " labels",
       .advice = "raise num_classes, or set diffusion.label_dropout = 0"});
}

void TakeCondition(const DataLayout& layout, bool diffusion, NetworkInput& input) {
  const auto found = std::ranges::find(layout.conditions, input.name, &NetworkInput::name);
  if (found == layout.conditions.end()) RefuseMissing(input, diffusion);
  input.shape = found->shape;
}

void CheckOrder(const NetworkInputs& inputs, const DataLayout& layout) {
  const bool same =
      std::ranges::equal(inputs.begin() + 1, inputs.end(), layout.conditions.begin(),
                         layout.conditions.end(), {}, &NetworkInput::name, &NetworkInput::name);
  if (same) return;
  throw ConfigError({.where = "data",
                     .required = "the data's conditions are the network's inputs, in their order",
                     .given = "they are others, or in another order",
                     .advice = "give DataLayout::conditions as Sequential::inputs() has them"});
}

// A network of one input would leave them out in silence.
void RefuseUnread(const DataLayout& layout) {
  if (layout.conditions.empty()) return;
  throw ConfigError({.where = "data",
                     .required = "the network takes each input that the data have",
                     .given = "it takes one, and nothing reads '" + layout.conditions[0].name + "'",
                     .advice =
                         "let it take that one too (Sequential::SetInputs), or leave it out of "
                         "DataLayout::conditions"});
}

void CheckTakesTime(const NetworkInputs& inputs) {
  const bool takes_time = std::ranges::count(inputs, InputRole::kTime, &NetworkInput::role) > 0;
  if (takes_time && inputs[0].role == InputRole::kSample) return;
  throw ConfigError({.where = "diffusion",
                     .required = "the network takes a time beside its sample",
                     .given = inputs.size() > 1 ? "it takes none" : "it takes one input",
                     .advice = "use a noise predictor, e.g. family = \"dit\""});
}

}  // namespace

NetworkInputs ResolveInputs(const Sequential& network, const DataLayout& layout,
                            const DiffusionProcess* diffusion) {
  NetworkInputs inputs = network.inputs();
  if (diffusion != nullptr) CheckTakesTime(inputs);
  if (inputs.empty()) {
    RefuseUnread(layout);
    return {OnlyInput(layout)};
  }
  inputs[0].shape = layout.sample_shape;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (diffusion != nullptr && inputs[i].role == InputRole::kTime) continue;
    if (diffusion != nullptr && inputs[i].role == InputRole::kLabel) {
      CheckLabels(inputs[i], layout, diffusion->options().label_dropout);
      continue;
    }
    TakeCondition(layout, diffusion != nullptr, inputs[i]);
  }
  if (diffusion == nullptr) CheckOrder(inputs, layout);
  return inputs;
}

}  // namespace frugal
