#include <iostream>

#include "builders/cli/commands.h"
#include "presets/presets_table.h"

namespace frugal::cli {

void AddPresetsCommand(CLI::App& app, Action& action) {
  app.add_subcommand("presets", "Print the nine memory presets side by side")->callback([&action] {
    action = [] { std::cout << PresetsTable(); };
  });
}

}  // namespace frugal::cli
