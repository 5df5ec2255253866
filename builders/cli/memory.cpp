#include <iostream>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/cli/model_name.h"
#include "builders/config/run_config_reader.h"
#include "builders/memory_report/memory_report.h"
#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "builders/report/memory/memory_diff.h"
#include "builders/report/memory/memory_file.h"
#include "builders/report/memory/memory_json.h"
#include "builders/report/memory/memory_text.h"
#include "sdk/core/error.h"

namespace frugal::cli {
namespace {

struct MemoryArguments {
  ConfigArguments config;
  std::string out;
  bool json = false;
  bool no_curve = false;
};

MemoryReport ReportOf(const std::string& file, const std::vector<std::string>& overrides,
                      bool with_curve) {
  const PlannedTraining planned = IsModel(file) ? PlanNamedModel(file, overrides, PlanPurpose::kRun)
                                                : PlanTraining(ReadRunConfig(file, overrides));
  MemoryReport report = PlannedMemoryReport(planned, with_curve);
  if (report.model.empty()) report.model = file;
  return report;
}

void Memory(const MemoryArguments& arguments) {
  if (!arguments.out.empty()) MemoryFileFormOf(arguments.out);
  const MemoryReport report =
      ReportOf(arguments.config.file, arguments.config.Overrides(), !arguments.no_curve);
  std::cout << (arguments.json ? MemoryJson(report) : MemoryText(report));
  if (arguments.out.empty()) return;
  WriteMemoryFile(arguments.out, report);
  if (!arguments.json) std::cout << "wrote " << arguments.out << "\n";
}

struct DiffArguments {
  std::string a, b;
};

MemorySide SideOfFile(const std::string& file) {
  if (file.ends_with(".json")) return ReadMemorySide(file);
  return SideOf(file, ReportOf(file, {}, false));
}

}  // namespace

void AddMemoryCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "memory",
      "Print who holds a training's memory at its peak, touching no data and no weights; or, as "
      "`memory diff A B`, what grew and shrank between two plans or reports");
  const auto arguments = std::make_shared<MemoryArguments>();
  arguments->config.AddTo(command, "Configuration file, or the name of a published model");
  command.get_option("FILE.toml")->required(false);  // `memory diff` has two of its own
  command
      .add_option("--out", arguments->out,
                  "Write it to a file too: a page (.html), JSON (.json) or a Chrome trace "
                  "(.trace.json)")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "As JSON");
  command.add_flag("--no-curve", arguments->no_curve,
                   "Do not plan what recomputation could do, which takes longest");

  CLI::App& diff = *command.add_subcommand(
      "diff", "Print what grew and what shrank between two plans or memory reports");
  const auto sides = std::make_shared<DiffArguments>();
  const char* what = "A configuration, a model's name, or a memory report (.json)";
  diff.add_option("A", sides->a, what)->required();
  diff.add_option("B", sides->b, what)->required();
  command.callback([arguments, sides, &diff, &action] {
    if (diff.parsed()) {
      action = [sides] { std::cout << MemoryDiffText(SideOfFile(sides->a), SideOfFile(sides->b)); };
      return;
    }
    if (arguments->config.file.empty()) throw CLI::RequiredError("FILE.toml");
    action = [arguments] { Memory(*arguments); };
  });
}

}  // namespace frugal::cli
