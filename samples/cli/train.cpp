#include <memory>

#include "builders/ai_model_builder.h"
#include "builders/run_training.h"
#include "samples/cli/commands.h"

namespace frugal::cli {
namespace {

struct TrainArguments {
  ConfigArguments config;
  OutputOptions output;
  bool quiet = false;
};

void Train(const TrainArguments& arguments) {
  RunTraining(
      AiModelBuilder::FromToml(arguments.config.file, arguments.config.overrides).Plan(),
      {.output = arguments.output, .quiet = arguments.quiet, .keep = {arguments.config.file}});
}

void AddOutput(CLI::App& command, const std::string& name, std::optional<std::string>& path,
               const std::string& type, const std::string& what) {
  command.add_option_function<std::string>(
             name, [&path](const std::string& text) { path = text; },
             "Write " + what + " here, whatever [output] says")
      ->type_name(type);
}

}  // namespace

void AddTrainCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("train", "Print the plan, train as it says, and write the results");
  const auto arguments = std::make_shared<TrainArguments>();
  arguments->config.AddTo(command);
  AddOutput(command, "--summary", arguments->output.summary, "OUT.json", "the JSON summary");
  AddOutput(command, "--report", arguments->output.report, "OUT.html", "the HTML report");
  AddOutput(command, "--weights", arguments->output.weights, "OUT.safetensors",
            "the trained weights");
  command.add_flag("--quiet", arguments->quiet, "Print nothing but errors and warnings");
  command.callback([arguments, &action] { action = [arguments] { Train(*arguments); }; });
}

}  // namespace frugal::cli
