#include "builders/plan/published_models.h"

#include <algorithm>

#include "builders/config/architecture_reader.h"
#include "builders/config/error_place.h"
#include "builders/config/run_config_reader.h"
#include "builders/dry_run/dry_training.h"
#include "builders/plan/planner.h"
#include "builders/setup/network_inputs.h"
#include "builders/setup/nominal_layout.h"
#include "presets/config/config_node.h"
#include "presets/model_presets.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

constexpr const char* kLengthKey = "data.sequence_length";

bool IsGiven(const RunConfig& config, const std::string& key) {
  return config.origins.Of(key).IsExplicit();
}

// The longest of the model, where nobody says how long.
NominalLayout LayoutFor(const RunConfig& config, const Sequential& network) {
  const std::int64_t length = IsGiven(config, kLengthKey) ? config.data.sequence_length : 0;
  return NominalLayoutOf(*config.model.architecture, network, length);
}

// [data] describes files, of which there are none here, [diffusion] makes targets of them, and the
// model has been named.
void RefuseOthers(const std::vector<std::string>& overrides, bool tokens) {
  for (const std::string& assignment : overrides) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (key == "model.preset" || key == "model.family") {
      throw ConfigError({.where = "model",
                         .required = "the published model is the one that is named",
                         .given = key + " as well",
                         .advice = "leave it out; sizes are in model.config"});
    }
    const bool about_data = key.starts_with("data.") || key.starts_with("diffusion.");
    if (!about_data || (tokens && key == kLengthKey)) continue;
    throw ConfigError({.where = "data",
                       .required = "the plan of a published model by name is one without data",
                       .given = key,
                       .advice = tokens ? "only data.sequence_length can be set"
                                        : "leave it out; sizes are in model.config"});
  }
}

// Stands for a place in text without a file: messages do not show it, but those about it come
// before those about the command line.
SourceLocation NoFile() { return {.file = "", .line = 1, .column = 1}; }

ConfigNode ScalarNode(const std::string& key, const Value& value) {
  return {.kind = NodeKind::kScalar,
          .key = key,
          .key_location = NoFile(),
          .location = NoFile(),
          .value = value,
          .children = {},
          .text = ToString(value)};
}

ConfigNode TableNode(const std::string& key, std::vector<ConfigNode> children) {
  return {.kind = NodeKind::kTable,
          .key = key,
          .key_location = NoFile(),
          .location = NoFile(),
          .value = {},
          .children = std::move(children),
          .text = {}};
}

// Says what a file would say, to train the model on one sample.
ConfigNode BaseConfig(const std::string& name, bool has_labels) {
  const std::string loss(NameOf(has_labels ? LossKind::kCrossEntropy : LossKind::kMse));
  const std::string optimizer(NameOf(OptimizerKind::kAdamW));
  return TableNode("", {TableNode("model", {ScalarNode("name", name), ScalarNode("preset", name)}),
                        TableNode("loss", {ScalarNode("kind", loss)}),
                        TableNode("optimizer", {ScalarNode("kind", optimizer)}),
                        TableNode("training", {ScalarNode("batch_size", std::int64_t{1})})});
}

Shape OutputShape(const RunConfig& config, const DataLayout& layout, Sequential& network) {
  const DType dtype = DTypeOf(config.training.precision);
  const auto backend = MakeBackend(config.training.backend, ProductsOf(config.training.precision));
  DryEnvironment environment(*backend, dtype);
  environment.context().set_training(true);
  const NetworkInputs inputs = ResolveInputs(network, layout, nullptr);
  VarTuple vars = InputsOf(inputs, 1, dtype, environment.context());
  network(environment.context(), vars);
  return vars[0].shape();
}

constexpr std::int64_t kBytesOfF32 = 4;

ModelListing ListingOf(const ModelPreset& preset, const std::string& memory_preset) {
  const PlannedTraining planned =
      PlanNamedModel(std::string(preset.name), {"memory.preset=" + memory_preset});
  ModelListing listing{.name = std::string(preset.name),
                       .family = FamilyOf(*planned.config.model.architecture).name,
                       .parameters = planned.plan.parameter_count,
                       .train_bytes = planned.plan.peak_bytes,
                       .published = PublishedAs(preset.name)};
  for (const Parameter* parameter : planned.parameters) {
    listing.held_bytes += kBytesOfF32 * parameter->shape.ElementCount();
  }
  return listing;
}

}  // namespace

std::vector<std::string> NamedModels() {
  std::vector<std::string> names;
  for (const ModelPreset& preset : ModelPresets()) names.emplace_back(preset.name);
  std::ranges::sort(names);
  return names;
}

// The text behind the first "# ", without the stop at its end.
std::string PublishedAs(std::string_view name) {
  const auto& presets = ModelPresets();
  const auto found = std::ranges::find(presets, name, &ModelPreset::name);
  if (found == presets.end() || !found->toml.starts_with("# ")) return "";
  std::string line(found->toml.substr(2, found->toml.find('\n') - 2));
  if (line.ends_with('.')) line.pop_back();
  return line;
}

RunConfig NamedModelConfig(const std::string& name, const std::vector<std::string>& overrides) {
  const ArchitectureConfig published = ArchitectureNamed(name);
  const NominalLayout natural = NominalLayoutOf(published, *BuildArchitecture(published));
  RefuseOthers(overrides, natural.layout.vocabulary > 0);
  RunConfig config = ReadRunConfigTree(BaseConfig(name, natural.has_labels), overrides, true);
  if (TakesLabels(config.loss.kind) == natural.has_labels) return config;
  throw ConfigError({.where = "loss",
                     .required = natural.has_labels
                                     ? "the network ends in logits, which cross_entropy takes"
                                     : "the network ends in values, whose targets are values",
                     .given = "kind = \"" + std::string(NameOf(config.loss.kind)) + "\"",
                     .advice = natural.has_labels ? "leave loss.kind out"
                                                  : "use mse, l1, huber, or leave it out"});
}

DataLayout LayoutWithoutData(const RunConfig& config) {
  const auto network = BuildArchitecture(*config.model.architecture);
  NominalLayout natural = LayoutFor(config, *network);
  if (!natural.has_labels) {
    const Shape output = OutputShape(config, natural.layout, *network);
    natural.layout.target_shape = Shape(output.extents().subspan(1));
  }
  natural.layout.train_count = 2 * config.training.batch_size;
  return natural.layout;
}

PlannedTraining PlanNamedModel(const std::string& name, const std::vector<std::string>& overrides,
                               PlanPurpose purpose) {
  const RunConfig config = NamedModelConfig(name, overrides);
  const DataLayout layout = WithPlaceIn(config, [&] { return LayoutWithoutData(config); });
  PlannedTraining planned = PlanTraining(config, &layout, purpose);
  planned.published_model = name;
  return planned;
}

std::vector<ModelListing> ListModels(const std::string& memory_preset) {
  std::vector<ModelListing> models;
  for (const ModelPreset& preset : ModelPresets()) {
    models.push_back(ListingOf(preset, memory_preset));
  }
  std::ranges::sort(models, {}, &ModelListing::name);
  return models;
}

}  // namespace frugal
