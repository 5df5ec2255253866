#include <iostream>

#include "builders/cli/command_tree.h"
#include "builders/cli/commands.h"
#include "builders/reference/reference.h"
#include "sdk/core/version.h"

namespace frugal::cli {
namespace {

// Text as roff takes it: nothing of it is a command.
std::string Roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
}

std::string Bold(const std::string& text) { return "\\fB" + Roff(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Roff(text) + "\\fR"; }

std::string Entry(const std::string& head, const std::string& text) {
  return ".TP\n" + head + "\n" + Roff(text) + "\n";
}

std::string OptionEntry(const CommandOption& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + Bold(name);
  if (option.names.empty()) head = Italic(option.argument);
  if (!option.names.empty() && option.takes_value()) head += " " + Italic(option.value);
  return Entry(head, option.doc);
}

std::string CommandText(const std::string& program, const Command& command) {
  std::string line = Bold(program + " " + command.name);
  for (const CommandOption& option : command.options) {
    if (!option.required && !option.names.empty()) continue;
    const std::string brief = Roff(option.brief());
    line += option.required ? " " + brief : " [" + brief + "]";
  }
  std::string text =
      ".SS " + command.name + "\n" + line + " [OPTIONS]\n.PP\n" + Roff(command.doc) + ".\n";
  for (const CommandOption& option : command.options) text += OptionEntry(option);
  return text;
}

std::string SectionsText() {
  std::string text =
      ".SH CONFIGURATION FILES\nA file is TOML with these sections, each of which "
      "may be left out.\n";
  for (const SectionReference& section : SectionReferences()) {
    std::string keys;
    for (const ReferenceRow& row : section.rows) {
      if (row.name.find('.') == std::string::npos) keys += (keys.empty() ? "" : ", ") + row.name;
    }
    text += Entry(Bold("[" + section.name + "]"), section.doc + " Keys: " + keys + ".");
  }
  return text + ".PP\n" + Bold("frugal explain") + " tells of each of them, " +
         Bold("frugal reference") + " of all.\n";
}

std::string EnvironmentText() {
  return ".SH ENVIRONMENT\n" +
         Entry(Bold("OMP_NUM_THREADS"),
               "Threads, where training.threads does not say; else all "
               "cores.") +
         Entry(Bold("SPDLOG_LEVEL"), "Least that notes on standard error matter, as --log-level.") +
         Entry(Bold("FRUGAL_ISA"), "baseline, avx2 or avx512: no instructions beyond these.");
}

std::string ExitText() {
  return ".SH EXIT STATUS\n" + Entry(Bold("0"), "All was done.") +
         Entry(Bold("1"), "An error, which is printed.") +
         Entry(Bold("2"), "A wrong command line.") +
         Entry(Bold("3"), "A training diverged; nothing was overwritten.");
}

std::string ExamplesText() {
  return ".SH EXAMPLES\n" +
         Entry(Bold("frugal new images --out my.toml"), "Write a configuration to begin with.") +
         Entry(Bold("frugal plan my.toml"), "See what it takes, before anything is allocated.") +
         Entry(Bold("frugal train my.toml --set training.epochs=1"), "Train it for one epoch.");
}

std::string ManPage(const CLI::App& app) {
  const std::string& name = app.get_name();
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = ".TH " + upper + " 1 \"\" \"frugal " FRUGAL_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\n" + Roff(name) + " \\- " + Roff(app.get_description()) + "\n";
  text += ".SH SYNOPSIS\n" + Bold(name) + " " + Italic("COMMAND") + " [ARGUMENTS]\n";
  text += ".SH OPTIONS\n";
  for (const CommandOption& option : OptionsOf(app)) text += OptionEntry(option);
  text += ".SH COMMANDS\n";
  for (const Command& command : CommandsOf(app)) text += CommandText(name, command);
  return text + SectionsText() + EnvironmentText() + ExitText() + ExamplesText();
}

}  // namespace

void AddManCommand(CLI::App& app, Action& action) {
  app.add_subcommand("man", "Print the manual page: frugal man | man -l -")
      ->callback([&app, &action] { action = [&app] { std::cout << ManPage(app); }; });
}

}  // namespace frugal::cli
