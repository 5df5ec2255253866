#include "samples/cli/commands.h"

namespace frugal::cli {

void ConfigArguments::AddTo(CLI::App& command, const std::string& what_file_is) {
  command.add_option("FILE.toml", file, what_file_is)->type_name(" ")->required();
  command
      .add_option("--set", overrides,
                  "Put a value on top of the file, e.g. --set training.epochs=1; repeatable")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);  // one value each, so that FILE may follow
}

}  // namespace frugal::cli
