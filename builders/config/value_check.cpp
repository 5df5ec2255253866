#include "builders/config/value_check.h"

#include "builders/config/run_config_reader.h"
#include "builders/config/types/layer_registry.h"
#include "presets/config/field_check.h"

namespace frugal {
namespace {

void CheckTable(const FieldTable& fields, const void* object, const std::string& path,
                Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : CheckFields(fields, object, path)) {
    diagnostics.Add({}, diagnostic);
  }
}

void CheckLayers(std::vector<LayerSpec>& layers, const std::string& path,
                 Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerSpec& layer = layers[i];
    const std::string here = path + "." + std::to_string(i);
    if (const LayerType* type = LayerTypeOf(layer.options)) {
      CheckTable(type->fields, layer.options.Data(), here + " (" + type->name + ")", diagnostics);
    }
    CheckLayers(layer.layers, here + ".layers", diagnostics);
    CheckLayers(layer.shortcut, here + ".shortcut", diagnostics);
  }
}

}  // namespace

void CheckValues(const RunConfig& config, Diagnostics& diagnostics) {
  RunConfig copy = config;  // field tables lead to members of a struct that may be changed
  for (const Section& section : Sections()) {
    CheckTable(section.fields(), section.in(copy), section.name, diagnostics);
  }
  CheckLayers(copy.model.layers, "model.layers", diagnostics);
  if (!copy.model.architecture) return;
  ArchitectureConfig& sizes = *copy.model.architecture;
  CheckTable(FamilyOf(sizes).fields, sizes.Data(), "model.config", diagnostics);
}

}  // namespace frugal
