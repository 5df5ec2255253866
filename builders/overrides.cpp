#include "builders/overrides.h"

#include "builders/spec_reader.h"
#include "presets/field_reader.h"
#include "presets/memory_fields.h"
#include "presets/override.h"

namespace frugal {

void ApplyOverrides(RunConfig& config, const std::vector<std::string>& overrides) {
  ConfigNode root;
  for (const std::string& assignment : overrides) ApplyOverride(root, assignment);
  std::vector<Section> sections = Sections();
  sections.push_back({"memory", &MemoryFields(), [](RunConfig& c) -> void* { return &c.memory; }});
  std::vector<std::string> known;
  for (const Section& section : sections) known.push_back(section.name);
  Complaints complaints;
  CheckKeys(root, known, "", complaints);
  for (const Section& section : sections) {
    const ConfigNode* node = root.Find(section.name);
    if (node == nullptr) continue;
    ReadFields(*section.fields, section.in(config), *node, section.name, config.origins,
               complaints);
  }
  complaints.ThrowIfAny();
}

}  // namespace frugal
