#include <algorithm>
#include <map>
#include <memory>

#include "builders/ai_model_builder.h"
#include "builders/cli/commands.h"
#include "builders/run_training.h"
#include "presets/config/value.h"

namespace frugal::cli {
namespace {

struct TrainArguments {
  ConfigArguments config;
  std::map<std::string, std::string> outputs;  // by the key of [output]
  bool force = false;
  bool quiet = false;
  bool profile = false;
  std::string resume;
};

// --weights PATH and its like put [output] weights on top of the file.
void AddOutput(CLI::App& command, const std::string& key, const std::string& type,
               const std::string& what, std::map<std::string, std::string>& outputs) {
  const auto add = [key, &outputs](const std::string& path) { outputs[key] = path; };
  std::string name = "--" + key;
  std::ranges::replace(name, '_', '-');
  command.add_option_function<std::string>(name, add, what)->type_name(type);
}

void Train(const TrainArguments& arguments) {
  const std::string& file = arguments.config.file;
  ConfigArguments config = arguments.config;
  for (const auto& [key, path] : arguments.outputs) {
    config.Put("--" + key + " " + path, "output." + key, QuoteToml(path));
  }
  RunTraining(AiModelBuilder::FromToml(file, config.Overrides()).Plan(),
              {.quiet = arguments.quiet,
               .allow_overcommit = arguments.force,
               .profile = arguments.profile,
               .resume = arguments.resume,
               .keep = {file}});
}

}  // namespace

void AddTrainCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("train", "Print the plan, train as it says, and write the results");
  const auto arguments = std::make_shared<TrainArguments>();
  arguments->config.AddTo(command);
  std::map<std::string, std::string>& outputs = arguments->outputs;
  AddOutput(command, "summary", "OUT.json", "Write the JSON summary here", outputs);
  AddOutput(command, "report", "OUT.html", "Write the HTML report here", outputs);
  AddOutput(command, "memory_report", "OUT.html",
            "Write who held the memory here: a page (.html), JSON (.json) or a Chrome trace "
            "(.trace.json)",
            outputs);
  AddOutput(command, "weights", "OUT.safetensors", "Write the trained weights here", outputs);
  command
      .add_option("--resume", arguments->resume,
                  "Go on from a snapshot: auto, from the last one in snapshots.directory if there "
                  "is one; must, from the last one; PATH, from that; new: begin anew, and remove "
                  "those of before")
      ->type_name("auto|must|new|PATH");
  command.add_flag("--force", arguments->force,
                   "Train although the plan does not fit the memory that is free now");
  command.add_flag("--quiet", arguments->quiet, "Print nothing but warnings and errors");
  command.add_flag("--profile", arguments->profile,
                   "Time every kernel; print time, GFLOP/s and GB/s per kind of operation, beside "
                   "the best that this machine does");
  command.callback([arguments, &action] { action = [arguments] { Train(*arguments); }; });
}

}  // namespace frugal::cli
