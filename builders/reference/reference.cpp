#include "builders/reference/reference.h"

#include "builders/config/architecture_reader.h"
#include "builders/config/layer_reader.h"
#include "builders/config/run_config_reader.h"
#include "builders/config/types/layer_registry.h"
#include "builders/reference/kind_docs.h"
#include "presets/memory_fields.h"
#include "presets/memory_presets.h"
#include "presets/memory_reader.h"
#include "sdk/data/dataset_registry.h"
#include "sdk/metrics/metric_registry.h"

namespace frugal {
namespace {

ReferenceRow TableRow(const std::string& name, const std::string& type, const std::string& doc) {
  ReferenceRow row{.name = name, .type = type, .value = "", .field = {}};
  row.field.name = name;
  row.field.doc = doc;
  row.field.kind = ValueKind::kTable;
  return row;
}

std::vector<ReferenceRow> ModelRows() {
  std::vector<ReferenceRow> rows;
  for (const Field& field : ArchitectureFields()) rows.push_back(RowWithoutDefault(field));
  rows.push_back(TableRow("config", "a table", "Sizes of the family or published model."));
  rows.push_back(TableRow("layers", "a list of layers", "The network, layer by layer."));
  return rows;
}

std::string Items(const std::vector<std::string>& names, std::string (*doc)(const std::string&)) {
  std::string text;
  for (const std::string& name : names) text += "- `" + name + "`: " + doc(name) + "\n";
  return text;
}

std::string SectionsText() {
  std::string text;
  for (const SectionReference& section : SectionReferences()) {
    text += "\n## [" + section.name + "]\n\n" + section.doc + "\n\n" + ReferenceText(section.rows);
    for (const ReferenceRow& row : section.rows) {
      if (row.name != "kind" || DocOfKind(section.name, row.field.choices.front()).empty()) {
        continue;
      }
      text += "\n";
      for (const std::string& kind : row.field.choices) {
        text += "- `" + kind + "`: " + std::string(DocOfKind(section.name, kind)) + "\n";
      }
    }
  }
  return text;
}

std::string LayersText() {
  std::string text =
      "\n## Layers\n\nEach of them may have a `name` too: " + LayerNameField().doc + "\n";
  for (const LayerType* type : LayerTypes().Rows()) {
    text += "\n### " + type->name + "\n\n";
    for (const std::string& key : type->nested) text += "Holds a list of layers, `" + key + "`.\n";
    if (!type->nested.empty()) text += "\n";
    text += type->fields.fields.empty() ? "It has no keys.\n" : ReferenceText(type->fields);
  }
  return text;
}

std::string FamiliesText() {
  std::string text = "\n## Families\n\nSizes of `[model] family`, as `[model.config]` has them.\n";
  for (const ArchitectureFamily* family : ArchitectureFamilies().Rows()) {
    text += "\n### " + family->name + "\n\n";
    const std::vector<std::string> presets = PresetsOf(*family);
    if (!presets.empty()) text += "Published: " + JoinWithCommas(presets) + "\n\n";
    text += ReferenceText(family->fields);
  }
  return text;
}

std::string DocOfMetric(const std::string& name) { return Metrics().Find(name)->doc; }
std::string DocOfDataset(const std::string& name) { return Datasets().Find(name)->doc; }
std::string DocOfPreset(const std::string& name) { return PresetDoc(name); }

}  // namespace

std::vector<SectionReference> SectionReferences() {
  std::vector<SectionReference> references;
  SectionReference memory{"memory", "The memory policy: a preset, and what is set beside it.", {}};
  memory.rows.push_back(RowWithoutDefault(PresetField()));
  for (ReferenceRow& row : ReferenceRows(MemoryFields())) memory.rows.push_back(std::move(row));
  references.push_back(std::move(memory));
  for (const Section& section : Sections()) {
    SectionReference reference{section.name, section.doc, ReferenceRows(section.fields())};
    if (section.name == "model") {
      for (ReferenceRow& row : ModelRows()) reference.rows.push_back(std::move(row));
    }
    references.push_back(std::move(reference));
  }
  return references;
}

std::string ReferencePage() {
  return "# Every key of configuration files\n\nPrinted by `frugal reference`; `frugal explain "
         "NAME` tells of one.\n" +
         SectionsText() + LayersText() + FamiliesText() + "\n## Memory presets\n\n" +
         Items(PresetNames(), DocOfPreset) + "\n## Metrics\n\n" +
         Items(Metrics().Names(), DocOfMetric) + "\n## Data sets\n\n" +
         Items(Datasets().Names(), DocOfDataset);
}

}  // namespace frugal
