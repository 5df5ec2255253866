#include "builders/config/value_check.h"

#include "builders/config/run_config_reader.h"
#include "builders/config/types/layer_fields.h"
#include "presets/config/field_check.h"

namespace frugal {
namespace {

void CheckTable(const FieldTable& fields, const void* object, const std::string& path,
                Complaints& complaints) {
  for (const Complaint& complaint : CheckFields(fields, object, path)) {
    complaints.Add({}, complaint);
  }
}

void CheckLayers(std::vector<LayerSpec>& layers, const std::string& path, Complaints& complaints) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerSpec& layer = layers[i];
    const std::string here = path + "." + std::to_string(i);
    const std::string_view type = TypeNameOf(layer.options);
    CheckTable(FindLayerType(type)->fields, StructIn(layer.options),
               here + " (" + std::string(type) + ")", complaints);
    CheckLayers(layer.layers, here + ".layers", complaints);
    CheckLayers(layer.shortcut, here + ".shortcut", complaints);
  }
}

}  // namespace

void CheckValues(const RunConfig& config, Complaints& complaints) {
  RunConfig copy = config;  // field tables lead to members of a struct that may be changed
  for (const Section& section : Sections()) {
    CheckTable(*section.fields, section.in(copy), section.name, complaints);
  }
  CheckLayers(copy.model.layers, "model.layers", complaints);
  if (!copy.model.architecture) return;
  ArchitectureConfig& sizes = *copy.model.architecture;
  CheckTable(FamilyOf(sizes).fields, StructIn(sizes), "model.config", complaints);
}

}  // namespace frugal
