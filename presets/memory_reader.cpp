#include "presets/memory_reader.h"

#include "presets/config/field_reader.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/config/toml_writer.h"
#include "presets/memory_fields.h"
#include "presets/memory_rules.h"
#include "presets/preset_chain.h"
#include "sdk/core/utf8.h"

namespace frugal {
namespace {

// Returns true where the table has the key but its value could not be read.
bool FailedToRead(const std::string& field, const ConfigNode& table, const Origins& origins) {
  return table.Find(field) && !origins.Of(MemoryPath(field)).IsExplicit();
}

// A contradiction is best reported at the first field involved that has a place, at the word
// `preset` if it was that, or at the table.
SourceLocation PlaceOf(const Contradiction& contradiction, const ConfigNode& table,
                       const Origins& origins) {
  for (const bool want_explicit : {true, false}) {
    for (const std::string& field : contradiction.fields) {
      const Origin& origin = origins.Of(MemoryPath(field));
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

// Remembers which preset the table names, and where.
void NotePreset(const ConfigNode& table, TrainingMemoryConfig& config, Origins& origins) {
  const ConfigNode* node = table.Find("preset");
  const auto* name = node ? std::get_if<std::string>(&node->value) : nullptr;
  if (name == nullptr) return;
  origins.Set(MemoryPath("preset"), Origin::At(node->key_location));
  auto values = std::make_shared<const TrainingMemoryConfig>(config);
  config.began_as = {.preset = *name, .values = std::move(values)};
}

void RefuseExtend(const ConfigNode& table, Diagnostics& diagnostics) {
  const ConfigNode* node = table.Find("extend");
  if (node == nullptr) return;
  diagnostics.Add(
      node->key_location,
      {kMemoryTable, "a configuration names its preset by preset; extend is for presets' files",
       "'extend' was given", "write preset in its place"});
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
  const bool preset_known = ApplyPresetOf(table, config, origins, diagnostics);
  NotePreset(table, config, origins);
  RefuseExtend(table, diagnostics);
  ReadFields(MemoryFields(), &config, table, kMemoryTable, origins, diagnostics,
             {"preset", "extend"});
  if (preset_known) AddContradictions(config, table, origins, diagnostics);
  return config;
}

TrainingMemoryConfig ReadMemoryOf(const ConfigNode& root, Origins& origins,
                                  Diagnostics& diagnostics) {
  const ConfigNode* table = root.Find(kMemoryTable);
  return table ? ReadMemory(*table, origins, diagnostics) : TrainingMemoryConfig{};
}

TrainingMemoryConfig ReadMemoryFile(const std::string& path) {
  return ReadOrThrow(ParseTomlFile(path));
}

TrainingMemoryConfig ReadMemoryText(const std::string& toml) {
  return ReadOrThrow(ParseTomlText(toml, "text"));
}

std::string WriteMemoryToml(const TrainingMemoryConfig& config) {
  return WriteFields(MemoryFields(), &config, kMemoryTable);
}

std::string WriteMemoryPreset(const TrainingMemoryConfig& config, const std::string& source) {
  return "# The memory policy of " + WithoutControls(source) + ".\n\n" +
         WriteFields(MemoryFields(), &config, kMemoryTable, {.with_docs = true});
}

}  // namespace frugal
