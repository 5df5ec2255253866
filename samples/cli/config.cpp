#include <iostream>
#include <memory>

#include "builders/spec_reader.h"
#include "samples/cli/commands.h"

namespace frugal::cli {

void AddConfigCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("config", "Print the resolved configuration, each value with its origin");
  const auto arguments = std::make_shared<ConfigArguments>();
  arguments->AddTo(command);
  command.callback([arguments, &action] {
    action = [arguments] {
      std::cout << ResolvedConfigText(ReadRunConfig(arguments->file, arguments->overrides));
    };
  });
}

}  // namespace frugal::cli
