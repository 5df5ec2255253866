#include "builders/config/text/config_values.h"

#include <filesystem>

#include "builders/config/run_config_reader.h"
#include "builders/config/types/layer_registry.h"
#include "presets/memory_fields.h"

namespace frugal {
namespace {

constexpr const char* kLayersPath = "model.layers";

void Append(std::vector<ResolvedValue> more, std::vector<ResolvedValue>& values) {
  for (ResolvedValue& value : more) values.push_back(std::move(value));
}

void MarkCode(const LayerType& type, std::vector<ResolvedValue>& values) {
  LayerOptions defaults = type.defaults;
  const std::vector<FlatField> fields = Flatten(type.fields, defaults.Data());
  for (std::size_t i = 0; i < values.size() && i < fields.size(); ++i) {
    const bool changed = !(values[i].value == fields[i].value);
    if (changed && values[i].origin.kind == OriginKind::kDefault) values[i].origin = Origin::Code();
  }
}

void AppendLayers(const std::vector<LayerSpec>& layers, const std::string& path,
                  const Origins& origins, std::vector<ResolvedValue>& values) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string place = path + "." + std::to_string(i);
    if (const LayerType* type = LayerTypeOf(layers[i].options)) {
      LayerOptions options = layers[i].options;
      auto own = Resolve(type->fields, options.Data(), place, origins);
      MarkCode(*type, own);
      for (ResolvedValue& value : own) value.section = place + " " + type->name;
      Append(std::move(own), values);
    }
    AppendLayers(layers[i].layers, place + ".layers", origins, values);
    AppendLayers(layers[i].shortcut, place + ".shortcut", origins, values);
  }
}

}  // namespace

std::vector<ResolvedValue> AllValues(const RunConfig& config) {
  RunConfig copy = config;  // sections give access to a configuration that can be changed
  std::vector<ResolvedValue> values = Resolve(MemoryFields(), &copy.memory, "memory", copy.origins);
  for (const Section& section : Sections()) {
    Append(Resolve(section.fields(), section.in(copy), section.name, copy.origins), values);
  }
  if (copy.model.architecture) {
    ArchitectureConfig& sizes = *copy.model.architecture;
    auto own = Resolve(FamilyOf(sizes).fields, sizes.Data(), "model.config", copy.origins);
    for (ResolvedValue& value : own) value.section += " " + FamilyOf(sizes).name;
    Append(std::move(own), values);
  }
  AppendLayers(copy.model.layers, kLayersPath, copy.origins, values);
  return values;
}

bool IsOfLayer(const ResolvedValue& value) { return value.section.starts_with(kLayersPath); }

std::string BriefText(const Origin& origin) {
  Origin brief = origin;
  if (origin.location.line > 0) {
    brief.location.file = std::filesystem::path(origin.location.file).filename().string();
  }
  return ShortText(brief);
}

}  // namespace frugal
