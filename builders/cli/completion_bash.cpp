#include "builders/cli/command_tree.h"
#include "builders/cli/completion.h"

namespace frugal::cli {
namespace {

std::string Names(const std::vector<CommandOption>& options) {
  std::vector<std::string> names;
  for (const CommandOption& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return Joined(names);
}

std::string Reply(const std::string& words) {
  return "COMPREPLY=($(compgen -W \"" + words + "\" -- \"$word\"))";
}

constexpr const char* kFiles =
    "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\"))";

// Completes what stands behind `key=`.
std::string ValuesOfKeys() {
  std::string text = "    case $key in\n";
  for (const SettableKey& key : SettableKeys()) {
    if (key.words.empty()) continue;
    text += "      " + key.name + ") " + Reply(Joined(key.words)) + " ;;\n";
  }
  return text + "      *) " + kFiles + " ;;\n    esac\n";
}

std::string Keys() {
  std::vector<std::string> names;
  for (const SettableKey& key : SettableKeys()) names.push_back(key.name + "=");
  return Joined(names);
}

// Completes one of the words that the option or argument takes, or a file where it takes one.
std::string ValueOf(const Command& command, const CommandOption& option) {
  const std::string words = Joined(WordsFor(command, option));
  if (words.empty()) return TakesFile(option) ? kFiles : ":";
  if (!TakesFile(option)) return Reply(words);
  return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -W \"" + words +
         "\" -- \"$word\"))";
}

std::string OptionValue(const Command& command, const CommandOption& option) {
  if (option.names.front() != "--set") return ValueOf(command, option);
  return "compopt -o nospace 2>/dev/null; " + Reply(Keys());
}

std::string ArgumentOf(const Command& command) {
  for (const CommandOption& option : command.options) {
    if (option.names.empty()) return ValueOf(command, option);
  }
  return ":";
}

std::string CommandCase(const Command& command) {
  std::string text = "    " + command.name + ")\n      case $before in\n";
  for (const CommandOption& option : command.options) {
    if (option.names.empty() || !option.takes_value()) continue;
    text +=
        "        " + option.names.front() + ") " + OptionValue(command, option) + "; return ;;\n";
  }
  text += "      esac\n      if [[ $word == -* ]]; then\n        " + Reply(Names(command.options)) +
          "\n      else\n        " + ArgumentOf(command) + "\n      fi ;;\n";
  return text;
}

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  const std::string& name = app.get_name();
  std::vector<std::string> commands;
  std::string cases;
  for (const Command& command : CommandsOf(app)) {
    commands.push_back(command.name);
    cases += CommandCase(command);
  }
  return "# Completion of " + name + " for bash.\n_" + name +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} key=\n"
         "  COMPREPLY=()\n"
         "  # `=` is a word by itself: --set optimizer.kind=adam is four of them.\n"
         "  if [[ $word == = ]]; then\n    key=$before word=\n"
         "  elif [[ $before == = ]]; then\n    key=${COMP_WORDS[COMP_CWORD - 2]}\n  fi\n"
         "  if [[ -n $key && $key != --* ]]; then\n" +
         ValuesOfKeys() +
         "    return\n  fi\n  [[ -z $key ]] || before=$key\n"
         "  if ((COMP_CWORD == 1)); then\n    " +
         Reply(Joined(commands) + " " + Names(OptionsOf(app))) +
         "\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n" + cases + "  esac\n}\ncomplete -F _" +
         name + " " + name + "\n";
}

}  // namespace frugal::cli
