#include "builders/cli/command_tree.h"

#include "builders/plan/published_models.h"
#include "builders/reference/explain.h"
#include "builders/reference/reference.h"
#include "builders/reference/starting_file.h"
#include "presets/memory_presets.h"
#include "sdk/core/log.h"

namespace frugal::cli {
namespace {

CommandOption Describe(const CLI::Option& option) {
  CommandOption described;
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  if (option.get_positional()) {
    described.names.clear();
    described.argument = option.get_name();
  }
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag)
    described.value = described.names.empty() ? described.argument : option.get_type_name();
  described.doc = option.get_description();
  described.required = option.get_required();
  return described;
}

std::vector<std::string> LevelNames() {
  std::vector<std::string> names;
  for (int level = 0; level <= static_cast<int>(LogLevel::kOff); ++level) {
    names.emplace_back(NameOf(static_cast<LogLevel>(level)));
  }
  return names;
}

}  // namespace

std::string CommandOption::brief() const {
  if (names.empty()) return argument;
  return takes_value() ? names.front() + " " + value : names.front();
}

std::vector<CommandOption> OptionsOf(const CLI::App& app) {
  std::vector<CommandOption> options;
  for (const CLI::Option* option : app.get_options()) options.push_back(Describe(*option));
  return options;
}

std::vector<Command> CommandsOf(const CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back({command->get_name(), command->get_description(), OptionsOf(*command)});
  }
  return commands;
}

std::vector<std::string> WordsFor(const Command& command, const CommandOption& option) {
  const std::string name = option.names.empty() ? option.argument : option.names.front();
  if (name == "--preset" || name == "--memory") return PresetNames();
  if (name == "--log-level") return LevelNames();
  if (name == "SHELL") return {"bash", "zsh", "fish"};
  if (name == "KIND") return StartingKinds();
  if (command.name == "explain")
    return option.names.empty() ? ExplainableNames() : std::vector<std::string>{};
  if (command.name == "plan" && option.names.empty()) return NamedModels();
  return {};
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool TakesFile(const CommandOption& option) {
  for (const char* part : {"FILE", "OUT", "DIR", "PATH", "WEIGHTS", "INPUT"}) {
    if (option.value.find(part) != std::string::npos) return true;
  }
  return false;
}

std::vector<SettableKey> SettableKeys() {
  std::vector<SettableKey> keys;
  for (const SectionReference& section : SectionReferences()) {
    for (const ReferenceRow& row : section.rows) {
      if (row.field.kind == ValueKind::kTable) continue;
      std::vector<std::string> words = row.field.choices;
      if (row.field.kind == ValueKind::kBool) words = {"true", "false"};
      keys.push_back({section.name + "." + row.name, std::move(words)});
    }
  }
  return keys;
}

}  // namespace frugal::cli
