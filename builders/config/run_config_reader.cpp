#include "builders/config/run_config_reader.h"

#include "builders/config/architecture_reader.h"
#include "builders/config/data_rules.h"
#include "builders/config/layer_reader.h"
#include "builders/config/run_config_fields.h"
#include "builders/config/run_rules.h"
#include "builders/config/types/layer_registry.h"
#include "presets/config/field_reader.h"
#include "presets/config/override.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/memory_fields.h"
#include "presets/memory_reader.h"

namespace frugal {
namespace {

void ReadSection(const Section& section, const ConfigNode& root, RunConfig& config,
                 Diagnostics& diagnostics) {
  const ConfigNode* node = root.Find(section.name);
  if (node == nullptr) return;
  if (!node->IsTable()) {
    diagnostics.Add(node->location, {.where = section.name,
                                     .required = "must be a table",
                                     .given = DescribeGiven(*node),
                                     .advice = "write its keys below [" + section.name + "]"});
    return;
  }
  config.origins.Set(section.name, Origin::At(node->location));
  std::vector<std::string> other_keys;
  if (section.name == "model") {
    other_keys = ArchitectureKeys();
    other_keys.emplace_back("layers");
  }
  ReadFields(section.fields(), section.in(config), *node, section.name, config.origins, diagnostics,
             other_keys);
}

void ReadNetwork(const ConfigNode& model, RunConfig& config, Diagnostics& diagnostics) {
  if (const ConfigNode* layers = model.Find("layers")) {
    config.model.layers = ReadLayers(*layers, "model.layers", config.origins, diagnostics);
  }
  if (model.IsTable()) {
    config.model.architecture = ReadArchitecture(model, config.origins, diagnostics);
  }
}

}  // namespace

const std::vector<Section>& Sections() {
  static const std::vector<Section> sections = {
      {"model", ModelFields, [](RunConfig& c) -> void* { return &c.model; },
       "The network: a list of layers, a named architecture, or a published model."},
      {"data", DataFields, [](RunConfig& c) -> void* { return &c.data; },
       "Where samples come from, and how they are scaled."},
      {"loss", LossFields, [](RunConfig& c) -> void* { return &c.loss; },
       "What training minimizes."},
      {"optimizer", OptimizerFields, [](RunConfig& c) -> void* { return &c.optimizer; },
       "How weights are updated."},
      {"schedule", ScheduleFields, [](RunConfig& c) -> void* { return &c.schedule; },
       "How the learning rate moves from step to step."},
      {"training", TrainingFields, [](RunConfig& c) -> void* { return &c.training; },
       "How long and how training goes, and what is measured."},
      {"diffusion", DiffusionFields, [](RunConfig& c) -> void* { return &c.diffusion; },
       "For networks that take noise away: how noise is added, and how samples are drawn."},
      {"sharding", ShardingFields, [](RunConfig& c) -> void* { return &c.sharding; },
       "How several devices share the work; memory.num_devices says how many."},
      {"snapshots", SnapshotFields, [](RunConfig& c) -> void* { return &c.snapshots; },
       "Snapshots, from which an interrupted training goes on bit for bit."},
      {"output", OutputFields, [](RunConfig& c) -> void* { return &c.output; },
       "Files that a training writes."},
  };
  return sections;
}

namespace {

// Says what is checked of values that can each be read.
struct Checks {
  bool custom_data = false;  // data of the program's own
  bool rules = true;         // how values go together
};

RunConfig ReadTree(ConfigNode root, const std::vector<std::string>& overrides,
                   const Checks& checks) {
  for (const std::string& assignment : overrides) ApplyOverride(root, assignment);
  RunConfig config;
  config.origins.Set("", Origin::At(root.location));
  Diagnostics diagnostics;
  std::vector<std::string> known = {"memory"};
  for (const Section& section : Sections()) known.push_back(section.name);
  CheckKeys(root, known, "", diagnostics);
  for (const Section& section : Sections()) {
    const std::size_t before = diagnostics.size();
    ReadSection(section, root, config, diagnostics);
    // The other rules wait until all values can be read; a misspelt name need not.
    const bool readable = diagnostics.size() == before;
    if (section.name == "data" && readable && !checks.custom_data)
      CheckDatasetName(config, diagnostics);
  }
  if (const ConfigNode* model = root.Find("model")) {
    ReadNetwork(*model, config, diagnostics);
  }
  if (const ConfigNode* memory = root.Find("memory")) {
    config.origins.Set("memory", Origin::At(memory->location));
  }
  config.memory = ReadMemoryOf(root, config.origins, diagnostics);
  if (diagnostics.empty() && checks.rules) CheckRun(config, checks.custom_data, diagnostics);
  diagnostics.ThrowIfAny();
  return config;
}

}  // namespace

RunConfig ReadRunConfigTree(ConfigNode root, const std::vector<std::string>& overrides,
                            bool custom_data) {
  return ReadTree(std::move(root), overrides, {.custom_data = custom_data});
}

RunConfig ReadValuesText(std::string_view toml, const std::string& name) {
  return ReadTree(ParseTomlText(toml, name), {}, {.custom_data = true, .rules = false});
}

RunConfig ReadRunConfig(const std::string& path, const std::vector<std::string>& overrides) {
  return ReadRunConfigTree(ParseTomlFile(path), overrides, false);
}

RunConfig ReadRunConfigText(std::string_view toml, const std::string& name,
                            const std::vector<std::string>& overrides, bool custom_data) {
  return ReadRunConfigTree(ParseTomlText(toml, name), overrides, custom_data);
}

namespace {

// [model.config]: the sizes of the family that is named, or of the published model's.
SchemaInnerTable SizesSchema() {
  SchemaInnerTable sizes;
  sizes.key = "config";
  sizes.doc = "Sizes of a named architecture.";
  for (const ArchitectureFamily* family : ArchitectureFamilies().Rows()) {
    sizes.forms.push_back(
        {.name = family->name,
         .fields = &family->fields,
         .asked_by = {{"family", {family->name}}, {"preset", PresetsOf(*family)}}});
  }
  return sizes;
}

}  // namespace

std::string RunConfigSchema() {
  std::vector<SchemaSection> sections;
  SchemaSection memory;
  memory.path = "memory";
  memory.doc = "The memory policy.";
  memory.fields = &MemoryFields();
  memory.other_fields = {PresetField(), ExtendField()};
  sections.push_back(memory);
  for (const Section& section : Sections()) {
    SchemaSection entry;
    entry.path = section.name;
    entry.fields = &section.fields();
    entry.doc = section.doc;
    if (section.name == "model") {
      entry.other_fields = ArchitectureFields();
      entry.inner = SizesSchema();
    }
    sections.push_back(entry);
  }
  SchemaSection layers;
  layers.path = "model.layers";
  layers.doc = "The network, layer by layer.";
  layers.is_list = true;
  layers.selector = "type";
  layers.other_fields = {LayerNameField()};
  for (const LayerType* type : LayerTypes().Rows()) {
    layers.variants.push_back({type->name, &type->fields, type->nested});
  }
  sections.push_back(layers);
  return JsonSchemaOf("frugal training", sections);
}

}  // namespace frugal
