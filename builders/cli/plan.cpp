#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "builders/cli/commands.h"
#include "builders/cli/model_name.h"
#include "builders/cli/number_option.h"
#include "builders/config/dataset.h"
#include "builders/config/error_place.h"
#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "builders/report/json/plan_json.h"
#include "builders/report/text/device_table.h"
#include "builders/report/text/plan_text.h"
#include "builders/setup/network_builder.h"
#include "presets/config/config_file.h"
#include "sdk/core/byte_size.h"

namespace frugal::cli {
namespace {

// A mesh of machines that need not be here.
struct MeshArguments {
  std::int64_t devices = 0, data = 0, pipeline = 0, rank = -1;  // as they are: not given
  double gflops = 100, link = 10, latency = 20, call = 5;

  bool given() const { return devices > 0 || data > 0 || rank >= 0; }
  MeshSpeed speed() const {
    return {
        .flops = gflops * 1e9, .bytes = link * 1e9, .latency = latency * 1e-6, .call = call * 1e-6};
  }
};

struct PlanArguments {
  ConfigArguments config;
  MeshArguments mesh;
  std::optional<std::string> batch;
  std::optional<std::string> preset;
  bool json = false;
  bool parameters_only = false;

  std::vector<std::string> Overrides() const {
    ConfigArguments all = config;
    if (batch) all.Put("--batch " + *batch, "training.batch_size", *batch);
    const auto put = [&](const std::string& option, const std::string& key, std::int64_t number) {
      const std::string text = std::to_string(number);
      if (number > 0) all.Put(option + " " + text, key, text);
    };
    put("--devices", "memory.num_devices", mesh.devices);
    put("--mesh data =", "sharding.data_parallel", mesh.data);
    if (preset) all.Put("--preset " + *preset, "memory.preset", *preset);
    return all.Overrides();
  }
};

// Needs the layers and the shape of a sample, or a named architecture alone; neither optimizer nor
// memory policy.
std::unique_ptr<Sequential> NetworkOf(const RunConfig& config) {
  if (config.model.architecture) return BuildArchitecture(*config.model.architecture);
  const DataLayout layout = LayoutOf(DatasetOf(config.data));
  const DType dtype = DTypeOf(config.training.precision);
  const auto backend = MakeBackend(config.training.backend, ProductsOf(config.training.precision));
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

void CheckMesh(const MeshArguments& mesh, const DevicesPlan& devices) {
  const auto refuse = [](const std::string& where, const std::string& required,
                         const std::string& given) {
    throw ConfigError({.where = where, .required = required, .given = given, .advice = {}});
  };
  if (mesh.pipeline > 0 && mesh.pipeline != devices.stages) {
    refuse("--mesh", "data x pipeline is the number of devices",
           "pipeline=" + std::to_string(mesh.pipeline) +
               " and data=" + std::to_string(devices.replicas) + " with " +
               std::to_string(devices.devices.size()) + " devices");
  }
  if (mesh.rank >= std::ssize(devices.devices)) {
    refuse("--rank", "ranks are counted from 0 to " + std::to_string(devices.devices.size() - 1),
           std::to_string(mesh.rank) + " was given");
  }
}

// The machine here says nothing of those of a mesh.
void PrintMesh(const PlanArguments& arguments, const PlannedTraining& planned) {
  const MeshArguments& mesh = arguments.mesh;
  if (!planned.plan.devices) {
    throw ConfigError({.where = "--mesh",
                       .required = "more than one device",
                       .given = "memory.num_devices = 1",
                       .advice = "say how many: --devices 4"});
  }
  const DevicesPlan& devices = *planned.plan.devices;
  CheckMesh(mesh, devices);
  if (arguments.json) {
    std::cout << PlanJson(planned, nullptr);
  } else if (mesh.rank >= 0) {
    std::cout << RankText(devices, static_cast<std::size_t>(mesh.rank), mesh.speed());
  } else {
    std::cout << PlanText(planned, nullptr) << "\n" << PredictionText(devices, mesh.speed());
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
      is_name ? PlanNamedModel(given, overrides, PlanPurpose::kPrint)
              : PlanTraining(ReadRunConfig(given, overrides), nullptr, PlanPurpose::kPrint);
  if (arguments.mesh.given()) return PrintMesh(arguments, planned);
  const SystemMemory machine = ReadSystemMemory();
  std::cout << (arguments.json ? PlanJson(planned, &machine) : PlanText(planned, &machine));
}

}  // namespace

// "data=8,pipeline=8"
void ReadMesh(const std::string& text, MeshArguments& mesh) {
  const std::string form = "data=NUMBER,pipeline=NUMBER; " + QuotedName(text) + " was given";
  const auto read = [&](const std::string& part) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) throw CLI::ValidationError("--mesh", form);
    const std::string name = part.substr(0, equals);
    const char* begin = part.data() + equals + 1;
    std::int64_t number = 0;
    const auto [stop, problem] = std::from_chars(begin, part.data() + part.size(), number);
    const bool whole = problem == std::errc() && stop == part.data() + part.size();
    if (!whole || number < 1 || (name != "data" && name != "pipeline")) {
      throw CLI::ValidationError("--mesh", form);
    }
    (name == "data" ? mesh.data : mesh.pipeline) = number;
  };
  const std::size_t comma = text.find(',');
  read(text.substr(0, comma));
  if (comma != std::string::npos) read(text.substr(comma + 1));
  if (mesh.data == 0) mesh.data = 1;
}

void AddMesh(CLI::App& command, MeshArguments& mesh) {
  const auto add_count = [&](const std::string& name, std::int64_t& value, std::int64_t least,
                             std::int64_t most, const std::string& doc) {
    AddNumber(command, name, value,
              {least, most,
               "a whole number from " + std::to_string(least) + " to " + std::to_string(most)},
              "COUNT", doc);
  };
  add_count("--devices", mesh.devices, 1, 4096,
            "Plan for so many devices, which need not be here: memory.num_devices");
  command
      .add_option_function<std::string>(
          "--mesh", [&mesh](const std::string& text) { ReadMesh(text, mesh); },
          "Replicas and stages: sharding.data_parallel")
      ->type_name("data=8,pipeline=8");
  add_count("--rank", mesh.rank, 0, 4095,
            "Print what this one of the devices will hold, send and compute");
  const NumberRange<double> positive = {1e-6, 1e9, "a number above 0"};
  AddNumber(command, "--gflops", mesh.gflops, positive, "NUMBER",
            "Speed of a device for the predicted time, in GFLOP/s (100)");
  AddNumber(command, "--link", mesh.link, positive, "NUMBER",
            "Speed of a link between devices, in GB/s (10)");
  AddNumber(command, "--latency", mesh.latency, {0, 1e9, "a number from 0"}, "NUMBER",
            "Time of a message beside its bytes, in microseconds (20)");
  AddNumber(command, "--call", mesh.call, {0, 1e9, "a number from 0"}, "NUMBER",
            "Time of a kernel beside its operations, in microseconds (5)");
}

void AddPlanCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "plan", "Print what a training will take; touches no data and no weights");
  const auto arguments = std::make_shared<PlanArguments>();
  arguments->config.AddTo(command, "Configuration file, or the name of a published model");
  command.add_option("--batch", arguments->batch, "Samples of a batch: training.batch_size")
      ->type_name("COUNT");
  command.add_option("--preset", arguments->preset, "Memory preset: memory.preset")
      ->type_name("NAME");
  AddMesh(command, arguments->mesh);
  command.add_flag("--json", arguments->json, "As JSON");
  command.add_flag("--parameters-only", arguments->parameters_only,
                   "Only count the parameters; plans no memory");
  command.callback([arguments, &action] { action = [arguments] { Plan(*arguments); }; });
}

}  // namespace frugal::cli
