#include <iostream>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/config/run_config_reader.h"
#include "builders/config/text/config_values.h"
#include "presets/memory_reader.h"

namespace frugal::cli {

void AddConfigCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("config", "Print the resolved configuration, each value with its origin");
  struct Arguments : ConfigArguments {
    bool as_preset = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  arguments->AddTo(command);
  command.add_flag("--as-preset", arguments->as_preset,
                   "Print its [memory] values as the file of a preset");
  command.callback([arguments, &action] {
    action = [arguments] {
      const RunConfig config = ReadRunConfig(arguments->file, arguments->Overrides());
      std::cout << (arguments->as_preset ? WriteMemoryPreset(config.memory, arguments->file)
                                         : ResolvedText(AllValues(config)));
    };
  });
}

}  // namespace frugal::cli
