#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace frugal::cli {

// An option or argument of a command, as documentation and completion need it.
struct CommandOption {
  std::vector<std::string> names;  // "--help", "-h"; empty for an argument
  std::string argument;            // its name, where it is an argument: "FILE.toml"
  std::string value;               // what it takes: "COUNT"; "" for a flag
  std::string doc;
  bool required = false;

  bool takes_value() const { return !value.empty(); }
  std::string brief() const;  // "--batch COUNT", "FILE.toml"
};

struct Command {
  std::string name;
  std::string doc;
  std::vector<CommandOption> options;
};

// The options of the program itself, or of one command.
std::vector<CommandOption> OptionsOf(const CLI::App& app);
// All commands, in the order of --help.
std::vector<Command> CommandsOf(const CLI::App& app);

// Words that an option or argument of a command takes; none where it takes whatever there is.
std::vector<std::string> WordsFor(const Command& command, const CommandOption& option);
// "plan train"
std::string Joined(const std::vector<std::string>& words);
// True where files may be meant.
bool TakesFile(const CommandOption& option);

// A key that --set takes, and its words where these are known.
struct SettableKey {
  std::string name;  // "optimizer.kind"
  std::vector<std::string> words;
};
std::vector<SettableKey> SettableKeys();

}  // namespace frugal::cli
