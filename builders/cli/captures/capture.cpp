#include <iostream>
#include <memory>

#include "builders/ai_model_builder.h"
#include "builders/capture/capture_training.h"
#include "builders/cli/captures/number_ranges.h"
#include "builders/cli/commands.h"
#include "builders/cli/number_option.h"
#include "sdk/core/byte_size.h"

namespace frugal::cli {
namespace {

struct CaptureArguments {
  ConfigArguments config;
  std::int64_t steps = 1;
  std::vector<std::string> patterns;
  std::string directory;
  bool plan = false;
};

std::string TotalsText(const CapturedTraining& captured, bool plan) {
  const CaptureTotals& totals = captured.totals;
  const std::string verb = plan ? "would take " : "takes ";
  return FormatCount(totals.entries) + " operations of " + FormatCount(captured.steps) +
         " steps, " + FormatBytes(totals.tensor_bytes) + " of tensors; on the disk it " + verb +
         FormatCount(totals.file_bytes()) + " bytes (" + FormatBytes(totals.file_bytes()) +
         "): " + FormatBytes(totals.entry_bytes) + " of entries and " +
         FormatBytes(totals.shared_bytes) + " of " + FormatCount(totals.shared_tensors) +
         " tensors that are stored once";
}

void Capture(const CaptureArguments& arguments) {
  PlannedTraining planned =
      AiModelBuilder::FromToml(arguments.config.file, arguments.config.Overrides()).Plan();
  const CapturedTraining captured =
      CaptureTraining(std::move(planned), {.directory = arguments.plan ? "" : arguments.directory,
                                           .steps = arguments.steps,
                                           .selection = {arguments.patterns},
                                           .name = arguments.config.file});
  std::cout << TotalsText(captured, arguments.plan) << "\n";
  if (!arguments.plan) {
    std::cout << "wrote " << arguments.directory << "; frugal verify " << arguments.directory
              << " computes it again\n";
  }
  std::cout << "weights behind it: " << captured.weights_hash << std::endl;
}

}  // namespace

void AddSelection(CLI::App& command, std::vector<std::string>& patterns) {
  command
      .add_option("--select", patterns,
                  "Only operations whose name or layer path fits, with * for any text: "
                  "'attention*', 'blocks.0.*'; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
}

void AddCaptureCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "capture", "Train for some steps and record what each operation is given and makes");
  const auto arguments = std::make_shared<CaptureArguments>();
  arguments->config.AddTo(command);
  AddNumber(command, "--steps", arguments->steps, kStepRange, "N",
            "Record so many training steps, from the first on (1)");
  CLI::Option* out =
      command.add_option("--out", arguments->directory, "A new or empty directory to write to")
          ->type_name("DIR");
  AddSelection(command, arguments->patterns);
  CLI::Option* plan = command.add_flag("--plan", arguments->plan,
                                       "Print the bytes it would take, and write nothing");
  command.callback([arguments, out, plan, &action] {
    if (out->count() + plan->count() == 0) throw CLI::RequiredError("--out DIR or --plan");
    action = [arguments] { Capture(*arguments); };
  });
}

}  // namespace frugal::cli
