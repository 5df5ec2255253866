#include <iostream>
#include <limits>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/cli/number_option.h"
#include "builders/config/run_config_reader.h"
#include "builders/inference/text_generation.h"

namespace frugal::cli {
namespace {

const NumberRange<std::int64_t> kCounts = {0, 1'000'000'000,
                                           "a whole number from 0 to 1,000,000,000"};
const NumberRange<double> kTemperatures = {0, 1e9, "a number from 0 to 1e9"};
const NumberRange<std::uint64_t> kSeeds = {0, std::numeric_limits<std::uint64_t>::max(),
                                           "a whole number from 0 to 2^64 - 1"};

struct GenerateArguments {
  ConfigArguments config;
  std::string weights;
  TextGenerationOptions text;
};

void Generate(const GenerateArguments& arguments) {
  const RunConfig config = ReadRunConfig(arguments.config.file, arguments.config.Overrides());
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
  AddNumber(command, "--count", text.count, kCounts, "N", "Bytes to add (500)");
  AddNumber(command, "--temperature", text.temperature, kTemperatures, "T",
            "0: always the likeliest byte (0.8)");
  AddNumber(command, "--top-k", text.top_k, kCounts, "K",
            "Only among so many likeliest; 0: among all (40)");
  AddNumber(command, "--seed", text.seed, kSeeds, "N", "Another seed, another text (0)");
  command.callback([arguments, &action] { action = [arguments] { Generate(*arguments); }; });
}

}  // namespace frugal::cli
