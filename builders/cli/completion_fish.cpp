#include "builders/cli/command_tree.h"
#include "builders/cli/completion.h"

namespace frugal::cli {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string NameArguments(const CommandOption& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text;
}

// Every key, and behind "key=" the values that there is a list of.
std::vector<std::string> Settings() {
  std::vector<std::string> words;
  for (const SettableKey& key : SettableKeys()) {
    words.push_back(key.name + "=");
    for (const std::string& word : key.words) words.push_back(key.name + "=" + word);
  }
  return words;
}

std::string OptionLine(const std::string& complete, const Command& command,
                       const CommandOption& option) {
  std::string line = complete + NameArguments(option);
  std::vector<std::string> words = WordsFor(command, option);
  if (!option.names.empty() && option.names.front() == "--set") words = Settings();
  if (option.takes_value()) line += TakesFile(option) ? " -F" : " -f";
  if (option.takes_value() && !option.names.empty()) line += " -r";
  if (!words.empty()) line += " -a " + Quoted(Joined(words));
  return line + (option.names.empty() ? "" : " -d " + Quoted(option.doc)) + "\n";
}

}  // namespace

std::string FishCompletion(const CLI::App& app) {
  const std::string complete = "complete -c " + app.get_name();
  std::string text = "# Completion of " + app.get_name() + " for fish.\n" + complete + " -f\n";
  for (const CommandOption& option : OptionsOf(app)) {
    text += complete + " -n __fish_use_subcommand" + NameArguments(option) + " -d " +
            Quoted(option.doc) + "\n";
  }
  for (const Command& command : CommandsOf(app)) {
    text += complete + " -n __fish_use_subcommand -a " + command.name + " -d " +
            Quoted(command.doc) + "\n";
    const std::string here = complete + " -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const CommandOption& option : command.options) text += OptionLine(here, command, option);
  }
  return text;
}

}  // namespace frugal::cli
