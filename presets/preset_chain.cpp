#include "presets/preset_chain.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "presets/config/config_file.h"
#include "presets/config/field_reader.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/memory_fields.h"
#include "presets/preset_names.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

// Returns the value of a key that is there. Wrong ones are left out here, and ReadFields complains.
std::optional<Value> GivenValue(const ConfigNode& table, const char* key) {
  const ConfigNode* node = table.Find(key);
  Diagnostics unused;
  return node ? ReadValue(*MemoryFields().Find(key), *node, kMemoryTable, unused) : std::nullopt;
}

template <class T>
std::optional<T> Given(const ConfigNode& table, const char* key) {
  const std::optional<Value> value = GivenValue(table, key);
  const T* given = value ? std::get_if<T>(&*value) : nullptr;
  return given ? std::optional<T>(*given) : std::nullopt;
}

// Reads the keys of a preset's table, and notes where each came from.
void ReadSettings(const ConfigNode& table, const std::string& preset, TrainingMemoryConfig& config,
                  Origins& origins, Diagnostics& diagnostics) {
  Origins here;
  ReadFields(MemoryFields(), &config, table, kMemoryTable, here, diagnostics, {"extend"});
  for (const FlatField& field : Flatten(MemoryFields(), &config)) {
    const Origin& origin = here.Of(MemoryPath(field.name));
    if (origin.IsExplicit()) {
      origins.Set(MemoryPath(field.name), Origin::Preset(preset, origin.location));
    }
  }
}

void ApplyArguments(std::string_view name, const PresetArguments& arguments,
                    TrainingMemoryConfig& config) {
  if (name == "MultiGpu") {
    config.num_devices = arguments.num_devices.value_or(config.num_devices);
  } else if (name == "AggressivePooling" && arguments.max_pool_memory_mb) {
    config.max_pool_memory_mb = *arguments.max_pool_memory_mb;
    config.tensor_pool_options->max_pool_size_mb = *arguments.max_pool_memory_mb;
  } else if (name == "ForTransferLearning") {
    if (arguments.weights_file_path) config.weights_file_path = arguments.weights_file_path;
    config.weights_file_format = arguments.weights_file_format.value_or(config.weights_file_format);
  }
}

// Follows a chain of presets, the one that is extended last.
class PresetChain {
 public:
  PresetChain(TrainingMemoryConfig& config, Origins& origins, Diagnostics& diagnostics)
      : config_(config), origins_(origins), diagnostics_(diagnostics) {}

  // Applies what `key` of a table names; `arguments` come from the tables around it.
  bool ApplyKey(const ConfigNode& table, const char* key, PresetArguments arguments) {
    const ConfigNode* node = table.Find(key);
    if (node == nullptr) return true;
    Field field = PresetField();
    field.name = key;
    const auto* text = std::get_if<std::string>(&node->value);
    const bool is_path = node->kind == NodeKind::kScalar && text && IsPresetPath(*text);
    if (is_path) {
      const fs::path path(*text);
      const bool from_file = !node->location.IsCommandLine() && path.is_relative();
      const fs::path base = from_file ? fs::path(node->location.file).parent_path() : fs::path();
      return ApplyFile((base / path).lexically_normal().string(), *node, arguments);
    }
    const std::optional<Value> value = ReadValue(field, *node, kMemoryTable, diagnostics_);
    if (!value) return false;
    ApplyNamedPreset(std::get<std::string>(*value), arguments, node->key_location, config_,
                     origins_);
    return true;
  }

  bool ApplyFile(const std::string& path, const ConfigNode& named_at, PresetArguments outer) {
    if (!CanBeRead(path, named_at)) return false;
    files_.push_back(path);
    const ConfigNode root = ParseTomlFile(path);
    const std::size_t before = diagnostics_.size();
    CheckSections(root);
    const ConfigNode* table = root.Find(kMemoryTable);
    if (table == nullptr || !table->IsTable()) return diagnostics_.size() == before;
    RefuseNaming(*table);
    if (!ApplyKey(*table, "extend", Merged(outer, PresetArgumentsIn(*table)))) return false;
    ReadSettings(WithoutKey(*table, "preset"), path, config_, origins_, diagnostics_);
    return diagnostics_.size() == before;
  }

 private:
  static PresetArguments Merged(PresetArguments outer, const PresetArguments& inner) {
    if (!outer.num_devices) outer.num_devices = inner.num_devices;
    if (!outer.max_pool_memory_mb) outer.max_pool_memory_mb = inner.max_pool_memory_mb;
    if (!outer.weights_file_path) outer.weights_file_path = inner.weights_file_path;
    if (!outer.weights_file_format) outer.weights_file_format = inner.weights_file_format;
    return outer;
  }

  static ConfigNode WithoutKey(ConfigNode table, std::string_view key) {
    std::erase_if(table.children, [&](const ConfigNode& child) { return child.key == key; });
    return table;
  }

  bool CanBeRead(const std::string& path, const ConfigNode& named_at) {
    const SourceLocation& place = named_at.location;
    const auto again = std::ranges::find(files_, path);
    if (again != files_.end()) {
      std::string chain;
      for (auto at = again; at != files_.end(); ++at) chain += *at + " -> ";
      diagnostics_.Add(place, {kMemoryTable, "a preset extends another one", chain + path,
                               "let one of them extend nothing, or one of the nine"});
      return false;
    }
    std::error_code problem;
    if (fs::exists(path, problem)) return true;
    const std::string nearest = SuggestFile(path);
    diagnostics_.Add(place,
                     {kMemoryTable, "'" + named_at.key + "' names a preset or its file",
                      "there is no file " + QuoteToml(path),
                      nearest.empty() ? "paths count from the file that holds them" : nearest});
    return false;
  }

  void CheckSections(const ConfigNode& root) {
    for (const ConfigNode& child : root.children) {
      if (child.key == kMemoryTable && child.IsTable()) continue;
      const bool known = MemoryFields().Find(child.key) != nullptr || child.key == "extend";
      diagnostics_.Add(child.key_location,
                       {"preset", "a preset's file holds a [memory] table alone",
                        "'" + Shorten(child.key) + "' was given",
                        known ? "write it below [memory]" : "move it to the configuration"});
    }
  }

  void RefuseNaming(const ConfigNode& table) {
    if (const ConfigNode* node = table.Find("preset")) {
      diagnostics_.Add(node->key_location,
                       {kMemoryTable, "a preset's file names the one below it by extend",
                        "'preset' was given", "write extend in its place"});
    }
  }

  TrainingMemoryConfig& config_;
  Origins& origins_;
  Diagnostics& diagnostics_;
  std::vector<std::string> files_;  // so far
};

}  // namespace

bool IsPresetPath(std::string_view preset) {
  return preset.ends_with(".toml") || preset.find('/') != std::string_view::npos;
}

PresetArguments PresetArgumentsIn(const ConfigNode& table) {
  PresetArguments arguments;
  arguments.num_devices = Given<std::int64_t>(table, "num_devices");
  arguments.max_pool_memory_mb = Given<std::int64_t>(table, "max_pool_memory_mb");
  arguments.weights_file_path = Given<std::string>(table, "weights_file_path");
  const auto format = GivenValue(table, "weights_file_format");
  for (const auto& [name, choice] : WeightsFormatChoices()) {
    if (format == Value{name}) arguments.weights_file_format = choice;
  }
  return arguments;
}

void ApplyNamedPreset(std::string_view name, const PresetArguments& arguments,
                      const SourceLocation& place, TrainingMemoryConfig& config, Origins& origins) {
  const ConfigNode root = ParseTomlText(PresetText(name), "preset " + std::string(name));
  Origins inside;
  Diagnostics diagnostics;
  ReadSettings(*root.Find(kMemoryTable), std::string(name), config, inside, diagnostics);
  diagnostics.ThrowIfAny();
  ApplyArguments(name, arguments, config);
  for (const FlatField& field : Flatten(MemoryFields(), &config)) {
    const bool is_argument = field.name == "weights_file_path" && arguments.weights_file_path &&
                             name == "ForTransferLearning";
    if (inside.Of(MemoryPath(field.name)).kind == OriginKind::kPreset || is_argument) {
      origins.Set(MemoryPath(field.name), Origin::Preset(std::string(name), place));
    }
  }
}

bool ApplyPresetOf(const ConfigNode& table, TrainingMemoryConfig& config, Origins& origins,
                   Diagnostics& diagnostics) {
  return PresetChain(config, origins, diagnostics)
      .ApplyKey(table, "preset", PresetArgumentsIn(table));
}

bool ApplyPresetFile(const std::string& path, TrainingMemoryConfig& config, Origins& origins,
                     Diagnostics& diagnostics) {
  ConfigNode named;
  named.key = "preset";
  named.location = {"--memory " + path, 0, 0};
  return PresetChain(config, origins, diagnostics).ApplyFile(path, named, {});
}

}  // namespace frugal
