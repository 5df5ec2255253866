#include "builders/config/overrides.h"

#include "builders/config/run_config_reader.h"
#include "presets/config/field_reader.h"
#include "presets/config/override.h"
#include "presets/memory_fields.h"

namespace frugal {

namespace {

// model.config.n_layer=6, where the model is a named architecture.
void OverrideSizes(const ConfigNode& model, RunConfig& config, Diagnostics& diagnostics) {
  const ConfigNode* sizes = model.Find("config");
  if (sizes == nullptr) return;
  ArchitectureConfig& architecture = *config.model.architecture;
  ReadFields(FamilyOf(architecture).fields, architecture.Data(), *sizes, "model.config",
             config.origins, diagnostics);
}

}  // namespace

void ApplyOverrides(RunConfig& config, const std::vector<std::string>& overrides) {
  ConfigNode root;
  for (const std::string& assignment : overrides) ApplyOverride(root, assignment);
  std::vector<Section> sections = Sections();
  sections.push_back({"memory", MemoryFields, [](RunConfig& c) -> void* { return &c.memory; }});
  std::vector<std::string> known;
  for (const Section& section : sections) known.push_back(section.name);
  Diagnostics diagnostics;
  CheckKeys(root, known, "", diagnostics);
  for (const Section& section : sections) {
    const ConfigNode* node = root.Find(section.name);
    if (node == nullptr) continue;
    const bool has_sizes = section.name == "model" && config.model.architecture.has_value();
    ReadFields(section.fields(), section.in(config), *node, section.name, config.origins,
               diagnostics,
               has_sizes ? std::vector<std::string>{"config"} : std::vector<std::string>{});
    if (has_sizes) OverrideSizes(*node, config, diagnostics);
  }
  diagnostics.ThrowIfAny();
}

}  // namespace frugal
