// Weight files describe the networks that they are of.
#include "builders/config/text/weights_description.h"

#include "builders/config/architecture_reader.h"
#include "builders/config/text/config_text.h"
#include "builders/config/types/layer_registry.h"
#include "presets/model_presets.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/io/temp_dir.h"
#include "tests/support/own_parts.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

RunConfig Reread(const RunConfig& config, bool own_data) {
  return ReadRunConfigText(UseText(config, own_data), "text", {}, own_data);
}

std::string WithoutLayers(const LayerList::Fill& fill) {
  RunConfig config;
  config.model.layers = SpecsOf(fill);
  const std::string text = UseText(config, true);
  CHECK(text == UseText(Reread(config, true), true));
  return text;
}

TEST_CASE("the text of a network reads back as the same network") {
  for (const std::string& name : NetworkNames()) {
    INFO(name);
    CheckContains(WithoutLayers(NetworkNamed(name)), "layers = [");
  }
  for (const ModelPreset& preset : ModelPresets()) {
    INFO(preset.name);
    RunConfig config;
    config.model.architecture = ArchitectureNamed(std::string(preset.name));
    const std::string text = UseText(config, true);
    CHECK(text == UseText(Reread(config, true), true));
  }
}

TEST_CASE("the text has every value of every layer type, and what it may hold") {
  for (const LayerType* type : LayerTypes().Rows()) {
    INFO(type->name);
    LayerSpec spec{.options = type->defaults, .name = "part", .layers = {}, .shortcut = {}};
    const auto missing = [&](const Field& field) {
      const Value value = field.get(spec.options.Data());
      return field.required && (value == Value(std::string()) || value == Value(std::int64_t{0}));
    };
    for (const Field& field : type->fields.fields) {
      if (field.kind == ValueKind::kInt && missing(field))
        field.set(spec.options.Data(), std::int64_t{3});
      if (field.kind == ValueKind::kText && missing(field)) {
        field.set(spec.options.Data(), std::string("a \"name\""));
      }
      if (field.kind == ValueKind::kIntList && field.required) {
        field.set(spec.options.Data(),
                  std::vector<std::int64_t>(std::max<std::size_t>(1, field.min_items), 2));
      }
    }
    const LayerSpec inner{
        .options = DenseOptions{.units = 4}, .name = {}, .layers = {}, .shortcut = {}};
    for (const std::string& key : type->nested) {
      (key == "layers" ? spec.layers : spec.shortcut) = {inner, inner};
    }
    RunConfig config;
    config.model.layers = {spec};
    const std::string text = UseText(config, true);
    CHECK(text == UseText(Reread(config, true), true));
  }
}

TEST_CASE("the text of a file's configuration has its data, loss and precision") {
  RunConfig config = ReadRunConfig(std::string(FRUGAL_SOURCE_DIR) +
                                   "/samples/010_fashion_mnist/fashion_mnist.toml");
  config.data.test_limit = 100;
  config.data.train_limit = 7;
  config.training.precision = Precision::kBF16;
  config.training.metrics = {"f1", "top_5"};
  const RunConfig again = Reread(config, false);
  CHECK(again.data.mean == config.data.mean);
  CHECK(again.data.test_limit == 100);
  CHECK_FALSE(again.data.train_limit);
  CHECK(again.loss.label_smoothing == config.loss.label_smoothing);
  CHECK(again.training.precision == Precision::kBF16);
  CHECK(again.training.metrics == config.training.metrics);
  CHECK(again.optimizer.lr == OptimizerOptions().lr);
}

TEST_CASE("weights of all forms carry the description, and what others' loaders ask for") {
  const TempDir directory;
  Model model = BuilderFor({.network = "resnet", .memory = {}}).Build();
  for (const char* name : {"w.safetensors", "w.json", "w.bin"}) {
    INFO(name);
    const std::string path = directory.File(name);
    model.SaveWeights(path);
    const auto file = OpenWeights(path);
    CHECK(file->Metadata().at("format") == "pt");
    const WeightsDescription description = ReadWeightsDescription(*file);
    CHECK(description.own_data);
    CHECK_FALSE(description.own_loss);
    CHECK(description.layout.sample_shape == model.layout().sample_shape);
    CHECK(description.layout.classes == model.layout().classes);
    CHECK(description.class_names.empty());
    CHECK(UseText(description.config, true) == UseText(model.config(), true));
  }
}

TEST_CASE("equal weights give equal files under every memory policy") {
  const TempDir directory;
  std::string first;
  BuilderFor({.network = "convnet", .memory = {}}).Build().SaveWeights(directory.File("from"));
  for (const auto& [name, memory] : AllPresets(directory.File("from"))) {
    INFO(name);
    BuilderFor({.network = "convnet", .memory = memory}).Build().SaveWeights(directory.File("w"));
    const std::string bytes = ReadAll(directory.File("w"));
    if (first.empty()) first = bytes;
    CHECK(bytes == first);
  }
}

TEST_CASE("networks that no text describes say so in their files") {
  const TempDir directory;
  const std::string path = directory.File("w");
  SmallRun run;
  run.network = "mlp";
  SECTION("made by a function") {
    AiModelBuilder builder = BuilderFor(run);
    builder.Layers([](LayerList& layers) {
      layers.Flatten().Custom("mine", [](const Shape& input) {
        return std::make_unique<Dense>(input.back(), DenseOptions{.units = 5});
      });
    });
    builder.Build().SaveWeights(path);
    const std::string message = MessageOf<WeightFileError>([&] { Model::FromFile(path); });
    CheckContains(message, "layer model.layers.1 (custom) is of a type that the program did not");
    CheckContains(message, "call LoadWeights");
  }
  SECTION("others' files") {
    Model model = BuilderFor(run).Build();
    const auto writer = CreateWeights(path, WeightsFileFormat::kSafetensors, {});
    writer->Finish();
    CheckContains(MessageOf<WeightFileError>([&] { Model::FromFile(path); }),
                  "it has tensors and no description of frugal's; build the model");
  }
}

TEST_CASE("damaged descriptions are refused with the file's name") {
  const TempDir directory;
  const std::string path = directory.File("w");
  const WeightMetadata good = BuilderFor({.network = "mlp", .memory = {}}).Plan().metadata;
  const auto message = [&](const std::string& key, const std::string& text) {
    WeightMetadata metadata = good;
    metadata[key] = text;
    if (text.empty()) metadata.erase(key);
    CreateWeights(path, WeightsFileFormat::kSafetensors, {}, metadata)->Finish();
    return MessageOf<Error>([&] { Model::FromFile(path); });
  };
  CheckContains(message("frugal.input", ""), "frugal.input is missing");
  CheckContains(message("frugal.input", "{"), "parse error");
  CheckContains(message("frugal.input", "{}"), "sample_shape");
  CheckContains(
      message("frugal.input", R"({"sample_shape":[-1],"vocabulary":0,"classes":5,"label_shape":[],)"
                              R"("target_shape":[],"conditions":[],"more_targets":[]})"),
      "has sizes that no data have");
  CheckContains(message("frugal.class_names", R"(["a", "b"])"), "2 names of 5 classes");
  CheckContains(message("frugal.class_names", "[1]"), "type must be string");
  CheckContains(message("frugal.config", "[model"), "(frugal.config)");
  CheckContains(message("frugal.config", "[model]\nlayers = [{ type = \"dens\" }]"), "dense");
  CheckContains(message("format", "pt"), "missing");  // the file has no tensors
}

}  // namespace
}  // namespace frugal::testing
