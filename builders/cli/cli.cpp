#include "builders/cli/cli.h"

#include "builders/cli/commands.h"
#include "builders/cli/log_options.h"
#include "builders/main_guard.h"
#include "presets/config/nearest_name.h"
#include "presets/config/value.h"
#include "sdk/core/utf8.h"
#include "sdk/core/version.h"

namespace frugal::cli {
namespace {

constexpr int kUsageMistake = 2;

void AddCommands(CLI::App& app, Action& action) {
  app.require_subcommand(1);
  AddPlanCommand(app, action);
  AddMemoryCommand(app, action);
  AddTrainCommand(app, action);
  AddPredictCommand(app, action);
  AddEvaluateCommand(app, action);
  AddGenerateCommand(app, action);
  AddConfigCommand(app, action);
  AddPresetsCommand(app, action);
  AddModelsCommand(app, action);
  AddSchemaCommand(app, action);
  AddInspectCommand(app, action);
  AddExportCommand(app, action);
  AddCaptureCommand(app, action);
  AddVerifyCommand(app, action);
  AddProfileCommand(app, action);
  AddDiffRunCommand(app, action);
  AddNewCommand(app, action);
  AddExplainCommand(app, action);
  AddReferenceCommand(app, action);
  AddCompletionCommand(app, action);
  AddManCommand(app, action);
  AddLogOptions(app);
}

// "there is no command 'trian'; did you mean 'train'?", or nothing where the first word is right.
std::string UnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return "";
    names.push_back(command->get_name());
  }
  const std::string nearest = SuggestName(word, names);
  return "there is no command " + QuotedName(word) + "; " +
         (nearest.empty() ? "the commands are " + JoinWithCommas(names) : nearest);
}

// The command that was begun, to point at its help.
const CLI::App& Innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

int RefuseUsage(const std::string& message, const CLI::App& app) {
  const CLI::App& command = Innermost(app);
  const std::string name =
      &command == &app ? app.get_name() : app.get_name() + " " + command.get_name();
  std::cerr << "error: " << WithoutControls(message) << "\n       `" << name
            << " --help` shows what can be written here" << std::endl;
  return kUsageMistake;
}

// "'--jsno' is not known here; did you mean '--json'?"
std::string UnknownArgument(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining(true);
  std::vector<std::string> names;
  for (const CLI::Option* option : Innermost(app).get_options()) {
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
  }
  const std::string word = unknown.empty() ? "" : unknown.front();
  const std::string nearest = SuggestName(word, names);
  return QuotedName(word) + " is not known here" + (nearest.empty() ? "" : "; " + nearest);
}

int Run(int count, const char* const* arguments, const Launcher& launch) {
  CLI::App app("Build and train neural networks, every byte planned before it is allocated",
               "frugal");
  app.set_version_flag("--version", "frugal " FRUGAL_VERSION, "Print the version and stop");
  Action action;
  AddCommands(app, action);
  if (count < 2) return RefuseUsage("a command is needed", app);
  if (arguments[1][0] != '-') {
    const std::string problem = UnknownCommand(app, arguments[1]);
    if (!problem.empty()) return RefuseUsage(problem, app);
  }
  try {
    app.parse(count, arguments);
    ApplyLogOptions(Innermost(app));
  } catch (const CLI::CallForHelp&) {
    action = [&] { std::cout << app.help(); };
  } catch (const CLI::CallForVersion& version) {
    action = [text = std::string(version.what())] { std::cout << text << std::endl; };
  } catch (const CLI::ExtrasError&) {
    return RefuseUsage(UnknownArgument(app), app);
  } catch (const CLI::ParseError& error) {
    if (app.get_subcommands().empty()) return RefuseUsage("a command is needed first", app);
    return RefuseUsage(error.what(), app);
  }
  return RunProgram([&] { launch ? launch(action) : action(); });
}

}  // namespace
}  // namespace frugal::cli

namespace frugal {

int Cli(int count, const char* const* arguments, const Launcher& launch) {
  return cli::Run(count, arguments, launch);
}

}  // namespace frugal
