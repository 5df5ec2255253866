#include "builders/config/layer_reader.h"

#include "builders/config/types/layer_registry.h"
#include "presets/config/field_reader.h"

namespace frugal {
namespace {

Field TypeField() {
  Field field;
  field.name = "type";
  field.doc = "Which layer.";
  field.kind = ValueKind::kChoice;
  field.required = true;
  field.choices = LayerTypes().Names();
  return field;
}

const LayerType* ReadType(const ConfigNode& node, const std::string& path,
                          Diagnostics& diagnostics) {
  const Field field = TypeField();  // programs may have added types
  const ConfigNode* type = node.Find("type");
  if (type == nullptr) {
    diagnostics.Add(node.location, {.where = path,
                                    .required = "a layer says what it is",
                                    .given = "the key 'type' is missing",
                                    .advice = "e.g. type = \"dense\""});
    return nullptr;
  }
  const auto value = ReadValue(field, *type, path, diagnostics);
  return value ? FindLayerType(std::get<std::string>(*value)) : nullptr;
}

void ReadName(const ConfigNode& node, const std::string& path, LayerSpec& spec,
              Diagnostics& diagnostics) {
  const ConfigNode* name = node.Find("name");
  if (name == nullptr) return;
  const auto value = ReadValue(LayerNameField(), *name, path, diagnostics);
  if (!value) return;
  spec.name = std::get<std::string>(*value);
  if (!spec.name.empty() && spec.name.find('.') == std::string::npos) return;
  diagnostics.Add(name->location, {.where = path,
                                   .required = "a layer's name is a part of parameter paths",
                                   .given = "name = " + name->text,
                                   .advice = "give a name without dots"});
}

}  // namespace

const Field& LayerNameField() {
  static const Field field = [] {
    Field made;
    made.name = "name";
    made.doc = "Its part of parameter paths, without dots; not given: its place in the list.";
    made.kind = ValueKind::kText;
    return made;
  }();
  return field;
}

std::vector<LayerSpec> ReadLayers(const ConfigNode& list, const std::string& path, Origins& origins,
                                  Diagnostics& diagnostics) {
  std::vector<LayerSpec> layers;
  if (!list.IsArray()) {
    diagnostics.Add(list.location, {.where = path,
                                    .required = "must be a list of layers",
                                    .given = DescribeGiven(list),
                                    .advice = "write each layer as [[" + path + "]]"});
    return layers;
  }
  for (std::size_t i = 0; i < list.children.size(); ++i) {
    const ConfigNode& node = list.children[i];
    const std::string layer_path = path + "." + std::to_string(i);
    const LayerType* type = node.IsTable() ? ReadType(node, layer_path, diagnostics) : nullptr;
    if (!node.IsTable()) {
      diagnostics.Add(node.location, {.where = layer_path,
                                      .required = "a layer is a table",
                                      .given = DescribeGiven(node),
                                      .advice = "write it as [[" + path + "]]"});
    }
    if (type == nullptr) continue;
    LayerSpec spec{.options = type->defaults,
                   .name = {},
                   .layers = {},
                   .shortcut = {},
                   .location = node.location};
    ReadName(node, layer_path, spec, diagnostics);
    std::vector<std::string> other_keys = {"type", "name"};
    other_keys.insert(other_keys.end(), type->nested.begin(), type->nested.end());
    ReadFields(type->fields, spec.options.Data(), node, layer_path, origins, diagnostics,
               other_keys);
    for (const std::string& key : type->nested) {
      if (const ConfigNode* inner = node.Find(key)) {
        (key == "layers" ? spec.layers : spec.shortcut) =
            ReadLayers(*inner, layer_path + "." + key, origins, diagnostics);
      }
    }
    layers.push_back(std::move(spec));
  }
  return layers;
}

}  // namespace frugal
