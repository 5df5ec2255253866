#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "builders/dataset.h"
#include "builders/named_model.h"
#include "builders/error_place.h"
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
  std::optional<std::string> batch;
  std::optional<std::string> preset;
  bool json = false;
  bool parameters_only = false;

  // Neither a file that is there nor anything that looks like one.
  bool IsName() const {
    const std::filesystem::path path = config.file;
    std::error_code error;
    return !std::filesystem::exists(path, error) && path.extension() != ".toml" &&
           path.filename() == path;
  }
  // --set has the last word.
  std::vector<std::string> Overrides() const {
    std::vector<std::string> all;
    if (batch) all.push_back("training.batch_size=" + *batch);
    if (preset) all.push_back("memory.preset=" + *preset);
    all.insert(all.end(), config.overrides.begin(), config.overrides.end());
    return all;
  }
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
  const std::int64_t count =
      WithPlaceIn(config, [&] { return NetworkOf(config)->ParameterCount(); });
  if (json) {
    std::cout << "{\"parameters\": " << count << "}\n";
  } else {
    std::cout << FormatCount(count) << " parameters\n";
  }
}

void Plan(const PlanArguments& arguments) {
  const std::string& given = arguments.config.file;
  const std::vector<std::string> overrides = arguments.Overrides();
  const bool is_name = arguments.IsName();
  if (arguments.parameters_only) {
    PrintParameters(is_name ? NamedModelConfig(given, overrides) : ReadRunConfig(given, overrides),
                    arguments.json);
    return;
  }
  const Blueprint blueprint =
      is_name ? PlanNamedModel(given, overrides) : MakeBlueprint(ReadRunConfig(given, overrides));
  const SystemMemory machine = ReadSystemMemory();
  std::cout << (arguments.json ? PlanJson(blueprint, &machine) : PlanText(blueprint, &machine));
}

}  // namespace

void AddPlanCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "plan", "Print what a training will take; touches no data and no weights");
  const auto arguments = std::make_shared<PlanArguments>();
  arguments->config.AddTo(command, "Configuration file, or the name of a published model");
  command.add_option("--batch", arguments->batch, "Samples of a batch: training.batch_size")
      ->type_name("COUNT");
  command.add_option("--preset", arguments->preset, "Memory preset: memory.preset")
      ->type_name("NAME");
  command.add_flag("--json", arguments->json, "As JSON");
  command.add_flag("--parameters-only", arguments->parameters_only,
                   "Only count the parameters; plans no memory");
  command.callback([arguments, &action] { action = [arguments] { Plan(*arguments); }; });
}

}  // namespace frugal::cli
