#include "builders/program.h"
#include "presets/nearest_name.h"
#include "samples/cli/commands.h"

namespace frugal::cli {
namespace {

constexpr int kUsageMistake = 2;

void AddCommands(CLI::App& app, Action& action) {
  app.require_subcommand(1);
  AddPlanCommand(app, action);
  AddTrainCommand(app, action);
  AddConfigCommand(app, action);
  AddPresetsCommand(app, action);
  AddSchemaCommand(app, action);
  AddInspectCommand(app, action);
}

// "there is no command 'trian'; did you mean 'train'?", or nothing where the first word is right.
std::string UnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return "";
    names.push_back(command->get_name());
  }
  const std::string nearest = SuggestName(word, names);
  return "there is no command '" + word + "'; " +
         (nearest.empty() ? "the commands are " + JoinWithCommas(names) : nearest);
}

int RefuseUsage(const std::string& message, const CLI::App& app) {
  std::cerr << "error: " << message << "\n"
            << "       `" << app.get_name() << " --help` shows what can be written here"
            << std::endl;
  return kUsageMistake;
}

// The command that was begun, to point at its help.
const CLI::App& Innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

int Main(int count, const char* const* arguments) {
  CLI::App app("Build and train neural networks, every byte planned before it is allocated",
               "frugal");
  Action action;
  AddCommands(app, action);
  if (count > 1 && arguments[1][0] != '-') {
    const std::string problem = UnknownCommand(app, arguments[1]);
    if (!problem.empty()) return RefuseUsage(problem, app);
  }
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForHelp&) {
    action = [&] { std::cout << app.help(); };
  } catch (const CLI::ParseError& error) {
    return RefuseUsage(error.what(), Innermost(app));
  }
  return RunProgram(action);
}

}  // namespace
}  // namespace frugal::cli

int main(int count, char** arguments) { return frugal::cli::Main(count, arguments); }
