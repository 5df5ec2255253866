#include <filesystem>
#include <iostream>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/reference/starting_file.h"
#include "builders/report/report_file.h"
#include "sdk/core/error.h"

namespace frugal::cli {
namespace {

struct NewArguments {
  std::string kind = "images";
  std::string file;
};

void WriteNew(const NewArguments& arguments) {
  const std::string text = StartingFile(arguments.kind);
  if (arguments.file.empty()) {
    std::cout << text;
    return;
  }
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(arguments.file, error))) {
    throw FileError({.where = arguments.file,
                     .required = "a new file",
                     .given = "it is there already",
                     .advice = "name another one, or remove it first"});
  }
  WriteTextFile(arguments.file, text);
  std::cout << "wrote " << arguments.file << "; next: frugal plan " << arguments.file << "\n";
}

std::string KindsDoc() {
  std::string doc = "What to begin with:";
  for (const std::string& kind : StartingKinds()) {
    doc += (doc.ends_with(':') ? " " : "; ") + kind + ", " + DocOfStart(kind);
  }
  return doc + " (images)";
}

}  // namespace

void AddNewCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("new", "Write a configuration to begin with, each key explained");
  const auto arguments = std::make_shared<NewArguments>();
  command.add_option("KIND", arguments->kind, KindsDoc())->type_name(" ");
  command.add_option("--out", arguments->file, "Write it here, where there is no file yet")
      ->type_name("FILE.toml");
  command.callback([arguments, &action] { action = [arguments] { WriteNew(*arguments); }; });
}

}  // namespace frugal::cli
