#include <iostream>
#include <memory>

#include "builders/spec_reader.h"
#include "builders/text_generation.h"
#include "samples/cli/commands.h"

namespace frugal::cli {
namespace {

struct GenerateArguments {
  ConfigArguments config;
  std::string weights;
  TextGenerationOptions text;
};

void Generate(const GenerateArguments& arguments) {
  const RunConfig config = ReadRunConfig(arguments.config.file, arguments.config.overrides);
  Model model = LoadTextModel(config, arguments.weights, config.data.sequence_length);
  GenerateText(model, arguments.text, &std::cout);
  std::cout << std::endl;
}

}  // namespace

void AddGenerateCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("generate", "Let a trained language model of bytes continue a text");
  const auto arguments = std::make_shared<GenerateArguments>();
  arguments->config.AddTo(command);
  TextGenerationOptions& text = arguments->text;
  command.add_option("--weights", arguments->weights, "The trained weights")
      ->type_name("FILE")
      ->required();
  command.add_option("--prompt", text.prompt, "What comes first (a line break)")->type_name("TEXT");
  command.add_option("--count", text.count, "Bytes to add (500)")->type_name("N");
  command.add_option("--temperature", text.temperature, "0: always the likeliest byte (0.8)")
      ->type_name("T");
  command.add_option("--top-k", text.top_k, "Only among so many likeliest; 0: among all (40)")
      ->type_name("K");
  command.add_option("--seed", text.seed, "Another seed, another text (0)")->type_name("N");
  command.callback([arguments, &action] { action = [arguments] { Generate(*arguments); }; });
}

}  // namespace frugal::cli
