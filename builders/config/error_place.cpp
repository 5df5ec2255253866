#include "builders/config/error_place.h"

#include <algorithm>
#include <string_view>

#include "builders/config/run_config_reader.h"

namespace frugal {
namespace {

constexpr std::string_view kLayers = "model.layers.";

std::string_view FirstPart(std::string_view path) { return path.substr(0, path.find('.')); }

// The layer that a path begins with, by its name or, where it has none, by its number. Null where
// there is none.
const LayerSpec* FindLayer(const std::vector<LayerSpec>& layers, std::string_view path) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = layers[i].name.empty() ? std::to_string(i) : layers[i].name;
    if (path == name || path.starts_with(name + ".")) return &layers[i];
  }
  return nullptr;
}

const LayerSpec* LayerAt(const std::vector<LayerSpec>& layers, std::string_view number) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (number == std::to_string(i)) return &layers[i];
  }
  return nullptr;
}

bool IsSection(std::string_view name) {
  return name == "memory" ||
         std::ranges::find(Sections(), name, &Section::name) != Sections().end();
}

}  // namespace

SourceLocation PlaceOf(const RunConfig& config, const std::string& where) {
  const std::string_view path = std::string_view(where).substr(0, where.find(" ("));
  const ModelOptions& model = config.model;
  const LayerSpec* layer = path.starts_with(kLayers)
                               ? LayerAt(model.layers, FirstPart(path.substr(kLayers.size())))
                               : FindLayer(model.layers, path);
  if (layer != nullptr) return layer->location;
  // A loss takes what the network gives, unless somebody wrote of the loss itself.
  if (path == "loss" && config.origins.Of("loss").kind == OriginKind::kDefault) {
    return model.layers.empty() ? config.origins.PlaceOf("model.config")
                                : model.layers.back().location;
  }
  const std::string_view first = FirstPart(path);
  if (IsSection(first)) return config.origins.PlaceOf(std::string(path));
  if (!model.architecture) return {config.origins.PlaceOf("").file};
  // A name that is no size of the family is that of a part of its network.
  const bool is_size = first == FamilyOf(*model.architecture).name;
  return config.origins.PlaceOf("model.config" +
                                std::string(is_size ? path.substr(first.size()) : ""));
}

}  // namespace frugal
