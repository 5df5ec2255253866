#include "builders/config/architecture_reader.h"

#include <algorithm>

#include "presets/config/field_reader.h"
#include "presets/config/nearest_name.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/model_presets.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

constexpr const char* kConfigPath = "model.config";

Field ChoiceField(std::string name, std::string doc, std::vector<std::string> choices) {
  Field field;
  field.name = std::move(name);
  field.doc = std::move(doc);
  field.kind = ValueKind::kChoice;
  field.choices = std::move(choices);
  return field;
}

Field FamilyField() {
  return ChoiceField("family", "A named architecture; its sizes are in [model.config].",
                     ArchitectureFamilies().Names());
}

const Field& PresetField() {
  static const Field field = [] {
    std::vector<std::string> names;
    for (const ModelPreset& preset : ModelPresets()) names.emplace_back(preset.name);
    return ChoiceField("preset", "A published model; [model.config] changes its sizes.", names);
  }();
  return field;
}

std::optional<std::string> ReadName(const Field& field, const ConfigNode& model,
                                    Diagnostics& diagnostics) {
  const ConfigNode* node = model.Find(field.name);
  if (node == nullptr) return std::nullopt;
  const std::optional<Value> value = ReadValue(field, *node, "model", diagnostics);
  return value ? std::optional(std::get<std::string>(*value)) : std::nullopt;
}

ArchitectureConfig ReadPreset(const ModelPreset& preset, Origins& origins,
                              Diagnostics& diagnostics) {
  const ConfigNode root =
      ParseTomlText(preset.toml, "presets/models/" + std::string(preset.name) + ".toml");
  std::optional<ArchitectureConfig> read =
      ReadArchitecture(*root.Find("model"), origins, diagnostics);
  return read.value();
}

void RequireFamily(const ConfigNode& model, const ConfigNode& config, Diagnostics& diagnostics) {
  if (model.Find("family") != nullptr || model.Find("preset") != nullptr) return;  // was wrong
  diagnostics.Add(config.location, {.where = kConfigPath,
                                    .required = "sizes belong to a family of architectures",
                                    .given = "[model] has neither 'family' nor 'preset'",
                                    .advice = "e.g. family = \"gpt2\""});
}

void CheckFamilies(const ConfigNode& model, const std::string& family,
                   const ArchitectureConfig& config, Diagnostics& diagnostics) {
  if (FamilyOf(config).name == family) return;
  diagnostics.Add(model.Find("family")->location,
                  {.where = "model",
                   .required = "the preset is of family \"" + FamilyOf(config).name + "\"",
                   .given = "family = \"" + family + "\"",
                   .advice = "leave family out beside a preset"});
}

}  // namespace

std::vector<Field> ArchitectureFields() { return {FamilyField(), PresetField()}; }

std::vector<std::string> PresetsOf(const ArchitectureFamily& family) {
  std::vector<std::string> names;
  for (const ModelPreset& preset : ModelPresets()) {
    const std::string name(preset.name);
    if (FamilyOf(ArchitectureNamed(name)).name == family.name) names.push_back(name);
  }
  return names;
}

std::vector<std::string> ArchitectureKeys() { return {"family", "preset", "config"}; }

std::optional<ArchitectureConfig> ReadArchitecture(const ConfigNode& model, Origins& origins,
                                                   Diagnostics& diagnostics) {
  const std::optional<std::string> family = ReadName(FamilyField(), model, diagnostics);
  const std::optional<std::string> preset = ReadName(PresetField(), model, diagnostics);
  std::optional<ArchitectureConfig> config;
  if (preset) {
    config = ArchitectureNamed(*preset);
    MarkAll(FamilyOf(*config).fields, config->Data(), kConfigPath,
            Origin::Preset(*preset, model.Find("preset")->key_location), origins);
    origins.Set(kConfigPath, Origin::Preset(*preset, model.Find("preset")->key_location));
    if (family) CheckFamilies(model, *family, *config, diagnostics);
  } else if (family) {
    config = FindFamily(*family)->defaults;
    origins.Set(kConfigPath, Origin::At(model.Find("family")->key_location));
  }
  const ConfigNode* sizes = model.Find("config");
  if (sizes == nullptr) return config;
  if (!config) {
    RequireFamily(model, *sizes, diagnostics);
  } else if (sizes->IsTable()) {
    ReadFields(FamilyOf(*config).fields, config->Data(), *sizes, kConfigPath, origins, diagnostics);
  } else {
    diagnostics.Add(sizes->location, {.where = kConfigPath,
                                      .required = "must be a table",
                                      .given = DescribeGiven(*sizes),
                                      .advice = "write its keys below [model.config]"});
  }
  return config;
}

ArchitectureConfig ArchitectureNamed(const std::string& preset) {
  const auto& presets = ModelPresets();
  const auto found = std::ranges::find(presets, preset, &ModelPreset::name);
  if (found == presets.end()) {
    const std::string nearest = SuggestName(preset, PresetField().choices);
    throw ConfigError({.where = "model.preset",
                       .required = "one of " + JoinWithCommas(PresetField().choices),
                       .given = QuoteToml(preset),
                       .advice = nearest.empty() ? "choose one of them" : nearest});
  }
  Origins unused;
  Diagnostics diagnostics;
  const ArchitectureConfig config = ReadPreset(*found, unused, diagnostics);
  diagnostics.ThrowIfAny();
  return config;
}

}  // namespace frugal
