#include "builders/cli/command_tree.h"
#include "builders/cli/completion.h"

namespace frugal::cli {
namespace {

// Text inside single quotes, where it has a meaning of its own to zsh's functions.
std::string Escaped(const std::string& text, const std::string& special) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
    } else {
      if (special.find(c) != std::string::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

// Returns what follows the name of an option or argument: ":message:action".
std::string ValueSpec(const Command& command, const CommandOption& option,
                      const std::string& name) {
  if (!option.takes_value()) return "";
  std::string spec = ":" + Escaped(option.value, ":") + ":";
  if (!option.names.empty() && option.names.front() == "--set") return spec + "_" + name + "_keys";
  const std::vector<std::string> words = WordsFor(command, option);
  if (!words.empty() && TakesFile(option)) {
    return spec + "{compadd -- " + Joined(words) + "; _files}";
  }
  if (!words.empty()) return spec + "(" + Joined(words) + ")";
  return TakesFile(option) ? spec + "_files" : spec + " ";
}

std::string Specs(const Command& command, const std::string& name) {
  std::string text;
  for (const CommandOption& option : command.options) {
    const std::string value = ValueSpec(command, option, name);
    if (option.names.empty()) {
      text += " \\\n        '*" + value + "'";
      continue;
    }
    const std::string rest = "[" + Escaped(option.doc, "[]\\:") + "]" + value + "'";
    const char* repeats = option.names.front() == "--set" ? "*" : "";
    for (const std::string& one : option.names) {
      text.append(" \\\n        '").append(repeats).append(one).append(rest);
    }
  }
  return text;
}

std::string KeysFunction(const std::string& name) {
  std::string values, keys;
  for (const SettableKey& key : SettableKeys()) {
    keys += " " + key.name;
    if (!key.words.empty()) {
      values += "      " + key.name + ") compadd -- " + Joined(key.words) + " ;;\n";
    }
  }
  return "_" + name + "_keys() {\n  local key=${PREFIX%%=*}\n  if [[ $PREFIX == *=* ]]; then\n" +
         "    compset -P 1 '*='\n    case $key in\n" + values +
         "      *) _files ;;\n    esac\n  else\n    compadd -S = --" + keys + "\n  fi\n}\n";
}

}  // namespace

std::string ZshCompletion(const CLI::App& app) {
  const std::string& name = app.get_name();
  std::string list, cases;
  for (const Command& command : CommandsOf(app)) {
    list += "    '" + command.name + ":" + Escaped(command.doc, "") + "'\n";
    cases += "    " + command.name + ")\n      _arguments" + Specs(command, name) + " ;;\n";
  }
  return "#compdef " + name + "\n# Completion of " + name + " for zsh.\n" + KeysFunction(name) +
         "_" + name + "() {\n  local -a commands\n  commands=(\n" + list +
         "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n" +
         cases +
         "  esac\n}\n# Loaded by name it is to complete at once; sourced, to be known.\n"
         "if [[ $funcstack[1] == _" +
         name + " ]]; then\n  _" + name + " \"$@\"\nelse\n  compdef _" + name + " " + name +
         "\nfi\n";
}

}  // namespace frugal::cli
