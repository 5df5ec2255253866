#include "builders/cli/completion.h"

#include <iostream>
#include <memory>

#include "builders/cli/commands.h"

namespace frugal::cli {

void AddCompletionCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("completion",
                          "Print a script that completes commands, options and keys: . <(frugal "
                          "completion bash)");
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash, zsh or fish")
      ->type_name(" ")
      ->required()
      ->check([](const std::string& name) {
        const bool known = name == "bash" || name == "zsh" || name == "fish";
        return known ? "" : "there is no script for '" + name + "'; bash, zsh or fish";
      });
  command.callback([shell, &app, &action] {
    action = [shell, &app] {
      std::cout << (*shell == "bash"  ? BashCompletion(app)
                    : *shell == "zsh" ? ZshCompletion(app)
                                      : FishCompletion(app));
    };
  });
}

}  // namespace frugal::cli
