#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "builders/config/dataset.h"
#include "builders/config/error_place.h"
#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "builders/report/json/plan_json.h"
#include "builders/report/text/plan_text.h"
#include "builders/setup/network_builder.h"
#include "presets/config/config_file.h"
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

  std::vector<std::string> Overrides() const {
    ConfigArguments all = config;
    if (batch) all.Put("--batch " + *batch, "training.batch_size", *batch);
    if (preset) all.Put("--preset " + *preset, "memory.preset", *preset);
    return all.overrides;
  }
};

// True for the name of a published model, unless there is a file of that name. Throws ConfigError
// where there is neither.
bool IsModel(const std::string& given) {
  std::error_code error;
  if (std::filesystem::exists(given, error)) return false;
  const std::vector<std::string> models = NamedModels();
  if (std::ranges::find(models, given) != models.end()) return true;
  const std::string suggestion = SuggestFile(given, models);
  throw ConfigError({.where = given,
                     .required = "a TOML file or the name of a published model",
                     .given = "there is no such file and no such model",
                     .advice = suggestion.empty()
                                   ? "check the path; `frugal models` lists the models"
                                   : suggestion});
}

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
  const bool is_name = IsModel(given);
  if (arguments.parameters_only) {
    PrintParameters(is_name ? NamedModelConfig(given, overrides) : ReadRunConfig(given, overrides),
                    arguments.json);
    return;
  }
  const PlannedTraining planned =
      is_name ? PlanNamedModel(given, overrides) : PlanTraining(ReadRunConfig(given, overrides));
  const SystemMemory machine = ReadSystemMemory();
  std::cout << (arguments.json ? PlanJson(planned, &machine) : PlanText(planned, &machine));
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
