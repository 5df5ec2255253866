#include <iostream>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/config/config_values.h"
#include "builders/config/run_config_reader.h"

namespace frugal::cli {

void AddConfigCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("config", "Print the resolved configuration, each value with its origin");
  const auto arguments = std::make_shared<ConfigArguments>();
  arguments->AddTo(command);
  command.callback([arguments, &action] {
    action = [arguments] {
      const RunConfig config = ReadRunConfig(arguments->file, arguments->overrides);
      std::cout << ResolvedText(AllValues(config));
    };
  });
}

}  // namespace frugal::cli
