#include <algorithm>
#include <iostream>
#include <memory>

#include "builders/cli/captures/byte_option.h"
#include "builders/cli/captures/number_ranges.h"
#include "builders/cli/captures/profile_table.h"
#include "builders/cli/commands.h"
#include "builders/cli/number_option.h"
#include "sdk/capture/profile/profile_capture.h"
#include "sdk/core/byte_size.h"
#include "sdk/io/whole_file.h"

namespace frugal::cli {
namespace {

const NumberRange<double> kSeconds = {0.001, 3600, "seconds from 0.001 to 3,600"};
const NumberRange<std::int64_t> kRounds = {1, 1000, "a whole number from 1 to 1,000"};
const NumberRange<std::int64_t> kRows = {0, 1'000'000, "a whole number from 0 to 1,000,000"};

struct ProfileArguments {
  std::string directory;
  std::string backend;
  std::string baseline;
  ProfileOptions options;
  std::int64_t top = 20;
  bool json = false;
  bool csv = false;
};

void Profile(const ProfileArguments& arguments) {
  ProfileOptions options = arguments.options;
  if (arguments.backend == "onednn") options.backends = {BackendKind::kOneDnn};
  if (arguments.backend == "eigen") options.backends = {BackendKind::kEigen};
  std::vector<EntryTime> before;
  if (!arguments.baseline.empty()) {
    before = ProfileFromJson(ReadWholeFile(arguments.baseline), arguments.baseline);
  }
  ProfileReport report = ProfileCapture(arguments.directory, options);
  CompareWith(before, report.times);
  if (arguments.json) {
    std::cout << ProfileJson(report.times, report.policy) << std::endl;
  } else if (arguments.csv) {
    std::cout << ProfileCsv(report.times) << std::flush;
  } else {
    std::cout << "policy  " << report.policy << "\n\n"
              << ProfileTableText(report.times, arguments.top) << std::endl;
  }
  const std::int64_t slower = std::ranges::count_if(report.times, &EntryTime::IsSlower);
  if (report.passed() && slower == 0) return;
  throw CaptureError(
      {.where = arguments.directory,
       .required = report.passed() ? "operations as fast as in " + arguments.baseline
                                   : "operations that are right behind their last sample",
       .given = report.passed() ? FormatCount(slower) + " are slower by more than the noise"
                                : "some are not",
       .advice = "look at them alone, with --select"});
}

}  // namespace

void AddProfileCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "profile", "Time a capture's operations, and say what bounds each on this machine");
  const auto arguments = std::make_shared<ProfileArguments>();
  ProfileOptions& options = arguments->options;
  command.add_option("DIR", arguments->directory, "Directory of a capture")
      ->type_name(" ")
      ->required();
  command.add_option("--backend", arguments->backend, "Time on this one; else as recorded")
      ->type_name("onednn|eigen")
      ->check(CLI::IsMember({"onednn", "eigen"}).description(""));
  AddSelection(command, options.selection.patterns);
  command.add_flag("--each", options.each,
                   "Time every entry, not one for all of the same shapes and attributes");
  AddNumber(command, "--seconds", options.timing.seconds, kSeconds, "SECONDS",
            "Take samples of an entry for so long at most, in each round (0.2)");
  AddNumber(command, "--rounds", options.rounds, kRounds, "N",
            "Time everything so often; the quietest round of an entry counts (3)");
  AddNumber(command, "--top", arguments->top, kRows, "N", "Print the N slowest (20); 0: all");
  command
      .add_option(
          "--baseline", arguments->baseline,
          "Compare with an earlier --json; what is slower by more than the noise is an error")
      ->type_name("OLD.json");
  AddBytes(command, "--batch-bytes", options.batch_bytes,
           "Replace the process that computes behind so many bytes of tensors (512MiB)");
  AddBytes(command, "--memory-cap", options.memory_cap,
           "No process holds more than this in memory; larger entries are told");
  AddNumber(command, "--timeout", options.timeout_seconds, kTimeoutRange, "SECONDS",
            "End an entry that takes longer (120)");
  AddNumber(command, "--threads", options.threads, kThreadRange, "N",
            "Threads of kernels; else as many as were recorded");
  command.add_flag("--json", arguments->json, "Print JSON");
  command.add_flag("--csv", arguments->csv, "Print CSV");
  command.callback([arguments, &action] { action = [arguments] { Profile(*arguments); }; });
}

}  // namespace frugal::cli
