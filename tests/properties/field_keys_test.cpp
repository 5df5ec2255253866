// Code asks for the origin and the place of a field by its dotted key. A key that names no field
// would answer "default" in silence, so every key that is written anywhere must name one.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "builders/config/run_config_fields.h"
#include "builders/config/run_config_reader.h"
#include "presets/memory_fields.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

const std::map<std::string, const FieldTable*>& Sections() {
  static const std::map<std::string, const FieldTable*> sections = {
      {"memory", &MemoryFields()},       {"model", &ModelFields()},
      {"data", &DataFields()},           {"loss", &LossFields()},
      {"optimizer", &OptimizerFields()}, {"schedule", &ScheduleFields()},
      {"training", &TrainingFields()},   {"diffusion", &DiffusionFields()},
      {"sharding", &ShardingFields()},   {"snapshots", &SnapshotFields()},
      {"output", &OutputFields()}};
  return sections;
}

// Keys that are read by functions of their own.
bool IsReadByItself(const std::string& key) {
  static const std::set<std::string> keys = {"memory.preset", "memory.extend", "model.preset",
                                             "model.family"};
  return keys.contains(key) || key.starts_with("model.layers") || key.starts_with("model.config");
}

bool NamesField(const std::string& key) {
  std::istringstream parts(key);
  std::string part;
  std::getline(parts, part, '.');
  const FieldTable* table = Sections().at(part);
  while (std::getline(parts, part, '.')) {
    const Field* field = table == nullptr ? nullptr : table->Find(part);
    if (field == nullptr) return false;
    table = field->sub ? &field->sub->table : nullptr;
  }
  return true;
}

// Every literal "section.key" in the sources of a room, without comments.
std::set<std::string> KeysIn(const std::string& room) {
  const std::regex key(
      "\"((?:memory|model|data|loss|optimizer|schedule|training|diffusion|output)"
      "\\.[a-z_0-9]+(?:\\.[a-z_0-9]+)*)\"");
  std::set<std::string> keys;
  const std::filesystem::path root = std::string(FRUGAL_SOURCE_DIR) + "/" + room;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      line = line.substr(0, line.find("//"));
      for (std::sregex_iterator at(line.begin(), line.end(), key), end; at != end; ++at) {
        keys.insert((*at)[1]);
      }
    }
  }
  return keys;
}

TEST_CASE("every key of a field that code asks for names a field") {
  std::size_t checked = 0;
  for (const std::string room : {"builders", "presets"}) {
    for (const std::string& key : KeysIn(room)) {
      INFO(room << ": \"" << key << "\"");
      if (IsReadByItself(key)) continue;
      CHECK(NamesField(key));
      ++checked;
    }
  }
  CHECK(checked >= 30);
  CHECK_FALSE(NamesField("memory.optimizer_in_forward"));
}

// Returns the keys that a README shows: `[section] key`, and `key = ` below `[section]` in a block.
std::set<std::string> KeysShownIn(const std::filesystem::path& readme) {
  const std::regex inline_key("`\\[([a-z]+)\\] ([a-z_]+)");
  const std::regex header("    \\[([a-z.]+)\\].*"), assignment("    ([a-z_]+) = .*");
  std::set<std::string> keys;
  std::string section;
  std::ifstream file(readme);
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    for (std::sregex_iterator at(line.begin(), line.end(), inline_key), end; at != end; ++at) {
      keys.insert((*at)[1].str() + "." + (*at)[2].str());
    }
    if (std::regex_match(line, match, header)) {
      section = match[1];
    } else if (!section.empty() && std::regex_match(line, match, assignment)) {
      keys.insert(section + "." + match[1].str());
    } else if (!line.empty() && !line.starts_with("    ")) {
      section.clear();
    }
  }
  return keys;
}

TEST_CASE("every key that a README shows names a field") {
  std::size_t checked = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(FRUGAL_SOURCE_DIR)) {
    const std::filesystem::path& path = entry.path();
    if (path.filename() != "README.md") continue;
    if (path.string().starts_with(FRUGAL_SOURCE_DIR "/build/")) continue;
    for (const std::string& key : KeysShownIn(path)) {
      INFO(path << ": " << key);
      if (!Sections().contains(key.substr(0, key.find('.'))) || IsReadByItself(key)) continue;
      CHECK(NamesField(key));
      ++checked;
    }
  }
  CHECK(checked >= 10);
}

TEST_CASE("a key of an earlier version is refused with the name that it has now") {
  struct Renamed {
    std::string section, old_name, new_name, value;
  };
  for (const Renamed& key : {Renamed{"training", "accumulate", "gradient_accumulation_steps", "2"},
                             Renamed{"optimizer", "slow", "lr_multiplier_for", "[\"head\"]"},
                             Renamed{"optimizer", "slow_factor", "lr_multiplier", "0.5"},
                             Renamed{"data", "deviation", "std", "0.5"},
                             Renamed{"optimizer", "average_decay", "ema_decay", "0.9"}}) {
    const std::string text = "[" + key.section + "]\n" + key.old_name + " = " + key.value + "\n";
    const std::string message =
        MessageOf<ConfigError>([&] { ReadRunConfigText(text, "run.toml"); });
    CHECK(message == "run.toml:2:1: [" + key.section + "] '" + key.old_name +
                         "' has another name now; write " + key.new_name + " in its place");
  }
}

}  // namespace
}  // namespace frugal::testing
