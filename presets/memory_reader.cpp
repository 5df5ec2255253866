#include "presets/memory_reader.h"

#include "presets/config/field_check.h"
#include "presets/config/field_reader.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/config/toml_writer.h"
#include "presets/memory_fields.h"
#include "presets/memory_presets.h"
#include "presets/memory_rules.h"

namespace frugal {
namespace {

constexpr const char* kPath = "memory";

std::string Dotted(const std::string& field) { return kPath + ("." + field); }

// Returns the value of a key that is there. Wrong ones are left out here, and ReadFields complains.
std::optional<Value> GivenValue(const ConfigNode& table, const char* key) {
  const ConfigNode* node = table.Find(key);
  Diagnostics unused;
  return node ? ReadValue(*MemoryFields().Find(key), *node, kPath, unused) : std::nullopt;
}

// Takes from a table what presets ask for.
PresetArguments ArgumentsOf(const ConfigNode& table) {
  PresetArguments arguments;
  if (const auto devices = GivenValue(table, "num_devices")) {
    arguments.num_devices = std::get<std::int64_t>(*devices);
  }
  if (const auto megabytes = GivenValue(table, "max_pool_memory_mb")) {
    arguments.max_pool_memory_mb = std::get<std::int64_t>(*megabytes);
  }
  const auto path = GivenValue(table, "weights_file_path");
  if (path && !IsNone(*path)) arguments.weights_file_path = std::get<std::string>(*path);
  const auto format = GivenValue(table, "weights_file_format");
  for (const auto& [name, choice] : WeightsFormatChoices()) {
    if (format == Value{name}) arguments.weights_file_format = choice;
  }
  return arguments;
}

// Returns false, having complained, where the preset is none of ours.
bool ApplyPreset(const ConfigNode& table, TrainingMemoryConfig& config, Origins& origins,
                 Diagnostics& diagnostics) {
  const ConfigNode* node = table.Find("preset");
  if (!node) return true;
  const std::optional<Value> value = ReadValue(PresetField(), *node, kPath, diagnostics);
  if (!value) return false;
  const std::string name = std::get<std::string>(*value);
  const PresetArguments arguments = ArgumentsOf(table);
  config = PresetByName(name, arguments);
  for (const PresetSetting& setting : PresetSettings(name, arguments)) {
    origins.Set(Dotted(setting.field), Origin::Preset(name, node->key_location));
  }
  return true;
}

// Returns true where the table has the key but its value could not be read.
bool FailedToRead(const std::string& field, const ConfigNode& table, const Origins& origins) {
  return table.Find(field) && !origins.Of(Dotted(field)).IsExplicit();
}

// A contradiction is best reported at the first field involved that has a place, at the word
// `preset` if it was that, or at the table.
SourceLocation PlaceOf(const Contradiction& contradiction, const ConfigNode& table,
                       const Origins& origins) {
  for (const bool want_explicit : {true, false}) {
    for (const std::string& field : contradiction.fields) {
      const Origin& origin = origins.Of(Dotted(field));
      if (origin.IsExplicit() == want_explicit && !origin.location.file.empty()) {
        return origin.location;
      }
    }
  }
  return table.location;
}

void AddContradictions(const TrainingMemoryConfig& config, const ConfigNode& table,
                       const Origins& origins, Diagnostics& diagnostics) {
  for (const Contradiction& contradiction : MemoryContradictions(config)) {
    bool failed = false;  // then it may be a mere consequence of what was complained about
    for (const std::string& field : contradiction.fields) {
      failed = failed || FailedToRead(field, table, origins);
    }
    if (!failed) diagnostics.Add(PlaceOf(contradiction, table, origins), contradiction.diagnostic);
  }
}

TrainingMemoryConfig ReadOrThrow(const ConfigNode& root) {
  Origins origins;
  Diagnostics diagnostics;
  TrainingMemoryConfig config = ReadMemoryOf(root, origins, diagnostics);
  diagnostics.ThrowIfAny();
  return config;
}

}  // namespace

TrainingMemoryConfig ReadMemory(const ConfigNode& table, Origins& origins,
                                Diagnostics& diagnostics) {
  TrainingMemoryConfig config;
  const bool preset_known = ApplyPreset(table, config, origins, diagnostics);
  ReadFields(MemoryFields(), &config, table, kPath, origins, diagnostics, {"preset"});
  if (preset_known) AddContradictions(config, table, origins, diagnostics);
  return config;
}

TrainingMemoryConfig ReadMemoryOf(const ConfigNode& root, Origins& origins,
                                  Diagnostics& diagnostics) {
  const ConfigNode* table = root.Find(kPath);
  return table ? ReadMemory(*table, origins, diagnostics) : TrainingMemoryConfig{};
}

TrainingMemoryConfig ReadMemoryFile(const std::string& path) {
  return ReadOrThrow(ParseTomlFile(path));
}

TrainingMemoryConfig ReadMemoryText(const std::string& toml) {
  return ReadOrThrow(ParseTomlText(toml, "text"));
}

std::string WriteMemoryToml(const TrainingMemoryConfig& config) {
  return WriteFields(MemoryFields(), &config, kPath);
}

Field PresetField() {
  Field field;
  field.name = "preset";
  field.doc = "Named settings to begin with; the other keys of the table change them.";
  field.kind = ValueKind::kChoice;
  field.choices = PresetNames();
  return field;
}

}  // namespace frugal
