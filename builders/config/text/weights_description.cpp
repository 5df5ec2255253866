#include "builders/config/text/weights_description.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "builders/config/dataset_registry.h"
#include "builders/config/run_config_reader.h"
#include "builders/config/text/config_text.h"
#include "presets/config/field_limits.h"
#include "presets/config/toml_reader.h"
#include "sdk/core/error.h"
#include "sdk/core/utf8.h"
#include "sdk/core/version.h"
#include "sdk/io/json_integer.h"
#include "sdk/io/weights/json_text.h"

namespace frugal {
namespace {

using nlohmann::json;

constexpr const char* kConfig = "frugal.config";
constexpr const char* kInput = "frugal.input";
constexpr const char* kClassNames = "frugal.class_names";
constexpr const char* kOwn = "frugal.own";
constexpr const char* kUndescribed = "frugal.undescribed";

json ListOf(const Shape& shape) {
  return std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end());
}

json InputOf(const DataLayout& layout) {
  json conditions = json::array();
  for (const NetworkInput& input : layout.conditions) {
    conditions.push_back({{"name", input.name},
                          {"role", static_cast<int>(input.role)},
                          {"shape", ListOf(input.shape)},
                          {"classes", input.classes}});
  }
  json targets = json::array();
  for (const NamedTargets& more : layout.more_targets) {
    targets.push_back(
        {{"name", more.name}, {"classes", more.classes}, {"shape", ListOf(more.shape)}});
  }
  return {{"sample_shape", ListOf(layout.sample_shape)},
          {"vocabulary", layout.vocabulary},
          {"classes", layout.classes},
          {"label_shape", ListOf(layout.label_shape)},
          {"target_shape", ListOf(layout.target_shape)},
          {"conditions", std::move(conditions)},
          {"more_targets", std::move(targets)}};
}

// The names of the classes that are used.
std::vector<std::string> ClassNamesOf(const DatasetDescription* dataset) {
  if (dataset == nullptr) return {};
  if (const auto* own = std::get_if<RegisteredDataset>(dataset)) return own->row->class_names;
  const auto* images = std::get_if<ImageDataset>(dataset);
  if (images == nullptr || images->info.class_names.empty()) return {};
  const DatasetInfo& info = images->info;
  if (info.uses_all_classes()) return info.class_names;
  std::vector<std::string> names;
  for (const std::int64_t used : info.classes_used) {
    names.push_back(info.class_names[static_cast<std::size_t>(used)]);
  }
  return names;
}

std::string OwnPartsOf(const RunConfig& config, bool own_data) {
  std::string own = own_data ? "data" : "";
  if (config.loss.function) own += own.empty() ? "loss" : " loss";
  return own;
}

[[noreturn]] void RefuseForm(const std::string& path, const std::string& given) {
  throw WeightFileError({.where = path,
                         .required = "the file's metadata describe its network as frugal writes it",
                         .given = given,
                         .advice = "save the weights again"});
}

Shape ShapeFrom(const json& list) { return Shape(JsonIntegers(list)); }

// Nothing where the sizes are those of no data.
std::optional<DataLayout> LayoutFrom(const json& input) {
  DataLayout layout;
  layout.sample_shape = ShapeFrom(input.at("sample_shape"));
  layout.vocabulary = JsonInteger(input.at("vocabulary"));
  layout.classes = JsonInteger(input.at("classes"));
  layout.label_shape = ShapeFrom(input.at("label_shape"));
  layout.target_shape = ShapeFrom(input.at("target_shape"));
  for (const json& condition : input.at("conditions")) {
    const auto role = JsonInteger(condition.at("role"));
    if (role < 0 || role > static_cast<int>(InputRole::kNumbers)) return std::nullopt;
    layout.conditions.push_back({.name = condition.at("name").get<std::string>(),
                                 .role = static_cast<InputRole>(role),
                                 .shape = ShapeFrom(condition.at("shape")),
                                 .classes = JsonInteger(condition.at("classes"))});
  }
  for (const json& more : input.value("more_targets", json::array())) {
    layout.more_targets.push_back({.name = more.at("name").get<std::string>(),
                                   .classes = JsonInteger(more.at("classes")),
                                   .shape = ShapeFrom(more.at("shape"))});
  }
  const auto is_odd = [](const Shape& shape) {
    return std::ranges::any_of(shape.extents(), [](std::int64_t extent) {
      return extent < 1 || static_cast<double>(extent) > kMostPerAxis;
    });
  };
  const bool odd = is_odd(layout.sample_shape) || is_odd(layout.label_shape) ||
                   is_odd(layout.target_shape) || layout.vocabulary < 0 || layout.classes < 0;
  return odd ? std::nullopt : std::optional(layout);
}

// Throws WeightFileError.
void ReadInput(const WeightSource& file, WeightsDescription& description) {
  const WeightMetadata& metadata = file.Metadata();
  const auto input = metadata.find(kInput);
  if (input == metadata.end()) RefuseForm(file.Path(), std::string(kInput) + " is missing");
  std::optional<DataLayout> layout;
  try {
    layout = LayoutFrom(json::parse(input->second));
    description.class_names = ClassNamesIn(metadata);
  } catch (const json::exception& error) {
    RefuseForm(file.Path(), WithoutErrorNumber(error.what()));
  } catch (const Error& error) {
    RefuseForm(file.Path(), error.what());
  }
  if (!layout) RefuseForm(file.Path(), std::string(kInput) + " has sizes that no data have");
  description.layout = *layout;
  const std::int64_t names = std::ssize(description.class_names);
  if (names == 0 || names == layout->classes) return;
  RefuseForm(file.Path(),
             std::to_string(names) + " names of " + std::to_string(layout->classes) + " classes");
}

void RequireDescribed(const WeightSource& file) {
  const WeightMetadata& metadata = file.Metadata();
  if (metadata.contains(kConfig)) return;
  const auto why = metadata.find(kUndescribed);
  const bool told = why != metadata.end();
  throw WeightFileError(
      {.where = file.Path(),
       .required = "the file's metadata describe its network",
       .given = told ? why->second : "it has tensors and no description of frugal's",
       .advice = told ? "build the model in the program that has these parts, and call LoadWeights"
                      : "build the model from its configuration, and call LoadWeights; files that "
                        "SaveWeights writes describe themselves"});
}

// Whoever only predicts need not know the data set, nor its options.
void DropUnknownData(ConfigNode& root) {
  ConfigNode* data = root.Find("data");
  if (data == nullptr) return;
  const FieldTable& known = DataFields();
  std::erase_if(data->children,
                [&](const ConfigNode& child) { return known.Find(child.key) == nullptr; });
}

bool IsAboutData(const std::string& assignment) { return assignment.starts_with("data."); }

}  // namespace

WeightMetadata DescribeWeights(const RunConfig& config, const DataLayout& layout,
                               const DatasetDescription* dataset) {
  WeightMetadata metadata = {{"format", "pt"}, {"frugal.version", FRUGAL_VERSION}};
  const auto undescribed = WhyUndescribed(config.model);
  const std::string text = undescribed ? "" : UseText(config, dataset == nullptr);
  const std::string own = OwnPartsOf(config, dataset == nullptr);
  if (undescribed) {
    metadata[kUndescribed] = WithoutControls(*undescribed);
  } else if (!IsUtf8(text)) {
    metadata[kUndescribed] = "a name or a path in its configuration is not UTF-8";
  } else {
    metadata[kConfig] = text;
  }
  if (!own.empty()) metadata[kOwn] = own;
  metadata[kInput] = InputOf(layout).dump(-1, ' ', false, json::error_handler_t::replace);
  const std::vector<std::string> names = ClassNamesOf(dataset);
  if (!names.empty()) metadata[kClassNames] = json(names).dump();
  return metadata;
}

std::vector<std::string> ClassNamesIn(const WeightMetadata& metadata) {
  const auto names = metadata.find(kClassNames);
  if (names == metadata.end()) return {};
  return json::parse(names->second).get<std::vector<std::string>>();
}

WeightsDescription ReadWeightsDescription(const WeightSource& file,
                                          const std::vector<std::string>& overrides,
                                          bool evaluates) {
  RequireDescribed(file);
  const WeightMetadata& metadata = file.Metadata();
  WeightsDescription description;
  const auto own = metadata.find(kOwn);
  if (own != metadata.end()) {
    description.own_data = own->second.find("data") != std::string::npos;
    description.own_loss = own->second.find("loss") != std::string::npos;
  }
  if (evaluates && description.own_data && std::ranges::none_of(overrides, IsAboutData)) {
    throw UsageError({.where = file.Path(),
                      .required = "data to evaluate on",
                      .given = "the network was trained on data of a program's own",
                      .advice = "name some by --set data.dataset=... or the files of [data], or "
                                "evaluate in that program"});
  }
  ReadInput(file, description);
  ConfigNode root = ParseTomlText(metadata.at(kConfig), file.Path() + " (" + kConfig + ")");
  if (!evaluates) DropUnknownData(root);
  description.config = ReadRunConfigTree(std::move(root), overrides, !evaluates);
  return description;
}

}  // namespace frugal
