#include <iostream>

#include "builders/cli/commands.h"
#include "builders/config/run_config_reader.h"

namespace frugal::cli {

void AddSchemaCommand(CLI::App& app, Action& action) {
  app.add_subcommand("schema", "Print the JSON schema of configuration files, for editors")
      ->callback([&action] { action = [] { std::cout << RunConfigSchema() << "\n"; }; });
}

}  // namespace frugal::cli
