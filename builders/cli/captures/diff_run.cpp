#include <iostream>
#include <memory>

#include "builders/ai_model_builder.h"
#include "builders/capture/diff_runs.h"
#include "builders/cli/captures/number_ranges.h"
#include "builders/cli/commands.h"
#include "builders/cli/number_option.h"
#include "sdk/capture/capture_error.h"

namespace frugal::cli {
namespace {

struct DiffRunArguments {
  std::string first, second;
  std::vector<std::string> both, of_first, of_second;
  std::int64_t steps = 1;
  std::vector<std::string> patterns;
};

PlannedTraining PlanOf(const std::string& file, std::vector<std::string> overrides,
                       const std::vector<std::string>& own) {
  overrides.insert(overrides.end(), own.begin(), own.end());
  return AiModelBuilder::FromToml(file, overrides).Plan();
}

void DiffRun(const DiffRunArguments& arguments) {
  const DiffRunsReport report =
      DiffRuns(PlanOf(arguments.first, arguments.both, arguments.of_first),
               PlanOf(arguments.second, arguments.both, arguments.of_second),
               {.steps = arguments.steps, .selection = {arguments.patterns}});
  if (!report.difference) {
    std::cout << report.Text() << std::endl;
    return;
  }
  throw CaptureError({.where = arguments.first + " and " + arguments.second,
                      .required = "two runs of the same bits",
                      .given = "they part in " + report.Text(),
                      .advice = ""});
}

void AddAssignments(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                    const std::string& doc) {
  command.add_option(name, values, doc)->type_name("SECTION.KEY=VALUE")->allow_extra_args(false);
}

}  // namespace

void AddDiffRunCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "diff-run",
      "Train two configurations for some steps and find the first operation that parts");
  const auto arguments = std::make_shared<DiffRunArguments>();
  command.add_option("A.toml", arguments->first, "Configuration file")->type_name(" ")->required();
  command.add_option("B.toml", arguments->second, "Another one, or the same")
      ->type_name(" ")
      ->required();
  AddNumber(command, "--steps", arguments->steps, kStepRange, "N", "Compare so many steps (1)");
  AddSelection(command, arguments->patterns);
  AddAssignments(command, "--set", arguments->both, "Put a value on top of both; repeatable");
  AddAssignments(command, "--set-a", arguments->of_first,
                 "Put a value on top of the first; repeatable");
  AddAssignments(command, "--set-b", arguments->of_second,
                 "Put a value on top of the second; repeatable");
  command.callback([arguments, &action] { action = [arguments] { DiffRun(*arguments); }; });
}

}  // namespace frugal::cli
