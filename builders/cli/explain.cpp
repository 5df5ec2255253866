#include "builders/reference/explain.h"

#include <iostream>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/reference/reference.h"

namespace frugal::cli {

void AddExplainCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "explain", "Tell what a key, section, layer, network, preset, metric or kind is");
  const auto names = std::make_shared<std::vector<std::string>>();
  command
      .add_option("NAME", *names, "optimizer.lr, lr, conv2d, gpt2, ForConvNets, f1, cosine, ...")
      ->type_name(" ")
      ->required();
  command.callback([names, &action] {
    action = [names] {
      std::string text;
      for (const std::string& name : *names) text += (text.empty() ? "" : "\n") + ExplainText(name);
      std::cout << text;
    };
  });
}

void AddReferenceCommand(CLI::App& app, Action& action) {
  app.add_subcommand("reference", "Print a page of Markdown with every key and what it does")
      ->callback([&action] { action = [] { std::cout << ReferencePage(); }; });
}

}  // namespace frugal::cli
