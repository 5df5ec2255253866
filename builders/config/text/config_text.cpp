#include "builders/config/text/config_text.h"

#include <algorithm>

#include "builders/config/run_config_fields.h"
#include "builders/config/types/architecture.h"
#include "builders/config/types/layer_registry.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_writer.h"

namespace frugal {
namespace {

bool Contains(const std::vector<std::string>& keys, const std::string& key) {
  return std::ranges::find(keys, key) != keys.end();
}

// Says which fields of a section count: all, these alone, or all but these.
struct Keys {
  std::vector<std::string> only{};
  std::vector<std::string> without{};

  bool operator()(const std::string& key) const {
    return (only.empty() || Contains(only, key)) && !Contains(without, key);
  }
};

std::string ListText(const std::vector<LayerSpec>& layers, const std::string& indent);

// { type = "dense", units = 10 }
std::string LayerText(const LayerSpec& layer, const std::string& indent) {
  const LayerType& type = *LayerTypeOf(layer.options);
  std::string text = "{ type = " + QuoteToml(type.name);
  if (!layer.name.empty()) text += ", name = " + QuoteToml(layer.name);
  LayerOptions options = layer.options;
  const std::vector<FlatField> defaults = Flatten(type.fields, type.fields.defaults.get());
  for (const FlatField& field : Flatten(type.fields, options.Data())) {
    const auto standard = std::ranges::find(defaults, field.name, &FlatField::name);
    const bool absent = standard == defaults.end() || IsNone(standard->value);
    if (IsNone(field.value) && absent) continue;
    text += ", " + Assignment(field.name, field.value);
  }
  if (!layer.layers.empty()) text += ", layers = " + ListText(layer.layers, indent);
  if (!layer.shortcut.empty()) text += ", shortcut = " + ListText(layer.shortcut, indent);
  return text + " }";
}

std::string ListText(const std::vector<LayerSpec>& layers, const std::string& indent) {
  const std::string deeper = indent + "  ";
  std::string text = "[";
  for (const LayerSpec& layer : layers) text += "\n" + deeper + LayerText(layer, deeper) + ",";
  return text + "\n" + indent + "]";
}

}  // namespace

std::string Assignment(const std::string& name, const Value& value) {
  return name + " = " + (IsNone(value) ? "\"none\"" : ToString(value));
}

std::string ChangedLines(const FieldTable& table, const void* object, const KeyFilter& counts) {
  const std::vector<FlatField> defaults = Flatten(table, table.defaults.get());
  std::string lines;
  for (const FlatField& field : Flatten(table, object)) {
    if (!counts(field.name)) continue;
    const auto standard = std::ranges::find(defaults, field.name, &FlatField::name);
    const bool changed = standard == defaults.end() || !(standard->value == field.value);
    if (changed) lines += Assignment(field.name, field.value) + "\n";
  }
  return lines;
}

std::string SectionText(const std::string& name, const std::string& lines) {
  return lines.empty() ? "" : "\n[" + name + "]\n" + lines;
}

std::string ModelText(const ModelOptions& model) {
  std::string text = "[model]\n" + Assignment("name", model.name) + "\n";
  if (!model.architecture) return text + "layers = " + ListText(model.layers, "") + "\n";
  ArchitectureConfig sizes = *model.architecture;
  const ArchitectureFamily& family = FamilyOf(sizes);
  return text + Assignment("family", family.name) + "\n\n" +
         WriteFields(family.fields, sizes.Data(), "model.config");
}

namespace {

std::optional<std::string> WhyUndescribed(const std::vector<LayerSpec>& layers,
                                          const std::string& path) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string here = path + "." + std::to_string(i);
    if (LayerTypeOf(layers[i].options) == nullptr) {
      return "layer " + here + " (" + TypeNameOf(layers[i]) +
             ") is of a type that the program did not register";
    }
    auto inside = WhyUndescribed(layers[i].layers, here + ".layers");
    if (!inside) inside = WhyUndescribed(layers[i].shortcut, here + ".shortcut");
    if (inside) return inside;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyUndescribed(const ModelOptions& model) {
  if (model.architecture) return std::nullopt;
  if (model.network) return "a function of the program makes the network";
  return WhyUndescribed(model.layers, "model.layers");
}

std::string UseText(const RunConfig& config, bool own_data) {
  const Keys of_data =
      own_data ? Keys{.only = {"mean", "std"}} : Keys{.without = {"train_limit", "shuffle"}};
  // A loss of the program's own is told beside the text; whoever has it not can predict.
  const Keys of_loss = config.loss.function ? Keys{.without = {"kind"}} : Keys{};
  return ModelText(config.model) +
         SectionText("data", ChangedLines(DataFields(), &config.data, of_data)) +
         SectionText("loss", ChangedLines(LossFields(), &config.loss, of_loss)) +
         SectionText("diffusion", ChangedLines(DiffusionFields(), &config.diffusion, Keys{})) +
         SectionText("training", ChangedLines(TrainingFields(), &config.training,
                                              Keys{.only = {"precision", "backend",
                                                            "evaluation_batch_size", "metrics"}}));
}

}  // namespace frugal
