#include <iostream>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/snapshot/export_weights.h"
#include "builders/snapshot/find_snapshot.h"

namespace frugal::cli {
namespace {

struct ExportArguments {
  std::string snapshot;
  std::string weights;
};

void Export(const ExportArguments& arguments) {
  const Snapshot snapshot = OpenSnapshot(SnapshotAt(arguments.snapshot));
  ExportWeights(snapshot, arguments.weights);
  std::cout << "wrote " << arguments.weights << ", the weights of " << snapshot.path << std::endl;
}

}  // namespace

void AddExportCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("export", "Write the weights of a snapshot alone, for others to read");
  const auto arguments = std::make_shared<ExportArguments>();
  command
      .add_option("snapshot", arguments->snapshot,
                  "Directory of a snapshot, or of several: the last one")
      ->type_name("SNAPSHOT")
      ->required();
  command
      .add_option("weights", arguments->weights,
                  "Weight file to write: safetensors, or by its name .json or .bin")
      ->type_name("OUT")
      ->required();
  command.callback([arguments, &action] { action = [arguments] { Export(*arguments); }; });
}

}  // namespace frugal::cli
