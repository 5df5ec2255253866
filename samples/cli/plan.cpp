#include <iostream>
#include <memory>

#include "builders/dataset.h"
#include "builders/network_builder.h"
#include "builders/report/plan_json.h"
#include "builders/report/plan_text.h"
#include "builders/spec_reader.h"
#include "samples/cli/commands.h"
#include "sdk/core/byte_size.h"

namespace frugal::cli {
namespace {

struct PlanArguments {
  ConfigArguments config;
  bool json = false;
  bool parameters_only = false;
};

// Needs the layers and the shape of a sample, or a named architecture alone; neither optimizer nor
// memory policy.
std::unique_ptr<Sequential> NetworkOf(const RunConfig& config) {
  if (config.model.architecture) return BuildArchitecture(*config.model.architecture);
  const DataLayout layout = LayoutOf(DatasetOf(config.data));
  const DType dtype = DTypeOf(config.training.precision);
  const auto backend = MakeBackend(config.training.backend);
  return BuildLayers(config.model.layers,
                     {layout.BatchShape(config.training.batch_size), layout.InputType(dtype)},
                     *backend, dtype);
}

void PrintParameters(const RunConfig& config, bool json) {
  const std::int64_t count = NetworkOf(config)->ParameterCount();
  if (json) {
    std::cout << "{\"parameters\": " << count << "}\n";
  } else {
    std::cout << FormatCount(count) << " parameters\n";
  }
}

void Plan(const PlanArguments& arguments) {
  const RunConfig config = ReadRunConfig(arguments.config.file, arguments.config.overrides);
  if (arguments.parameters_only) {
    PrintParameters(config, arguments.json);
    return;
  }
  const Blueprint blueprint = MakeBlueprint(config);
  std::cout << (arguments.json ? PlanJson(blueprint) : PlanText(blueprint));
}

}  // namespace

void AddPlanCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "plan", "Print what a training will take; touches no data and no weights");
  const auto arguments = std::make_shared<PlanArguments>();
  arguments->config.AddTo(command);
  command.add_flag("--json", arguments->json, "As JSON");
  command.add_flag("--parameters-only", arguments->parameters_only,
                   "Only count the parameters; plans no memory");
  command.callback([arguments, &action] { action = [arguments] { Plan(*arguments); }; });
}

}  // namespace frugal::cli
