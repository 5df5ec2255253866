#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace frugal::cli {

// Does what the command line asks for. Parsing only sets it, so that mistakes in the command line
// and errors in the work are told apart.
using Action = std::function<void()>;

// Each adds one command, which sets `action` when it is chosen.
void AddPlanCommand(CLI::App& app, Action& action);
void AddMemoryCommand(CLI::App& app, Action& action);
void AddTrainCommand(CLI::App& app, Action& action);
void AddPredictCommand(CLI::App& app, Action& action);
void AddEvaluateCommand(CLI::App& app, Action& action);
void AddGenerateCommand(CLI::App& app, Action& action);
void AddConfigCommand(CLI::App& app, Action& action);
void AddPresetsCommand(CLI::App& app, Action& action);
void AddModelsCommand(CLI::App& app, Action& action);
void AddSchemaCommand(CLI::App& app, Action& action);
void AddInspectCommand(CLI::App& app, Action& action);
void AddExportCommand(CLI::App& app, Action& action);
void AddCaptureCommand(CLI::App& app, Action& action);
void AddVerifyCommand(CLI::App& app, Action& action);
void AddProfileCommand(CLI::App& app, Action& action);
void AddDiffRunCommand(CLI::App& app, Action& action);
void AddNewCommand(CLI::App& app, Action& action);
void AddExplainCommand(CLI::App& app, Action& action);
void AddReferenceCommand(CLI::App& app, Action& action);
// These print what is made of all commands of `app`, whenever they were added.
void AddCompletionCommand(CLI::App& app, Action& action);
void AddManCommand(CLI::App& app, Action& action);

// Adds --select, the patterns of operations and layers that are taken.
void AddSelection(CLI::App& command, std::vector<std::string>& patterns);

// A configuration file and what is put on top of it: FILE.toml --set section.key=value ...
struct ConfigArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::string memory;  // a memory preset, or the path of its file; empty for none

  void AddTo(CLI::App& command, const std::string& what_file_is = "Configuration file");

  // Puts the value of an option of its own ("--batch 4") on top as well. Throws ConfigError where
  // --set gives the same key another value.
  void Put(const std::string& option, const std::string& key, const std::string& value);

  // Returns the overrides with all options in them.
  std::vector<std::string> Overrides() const;
};

}  // namespace frugal::cli
