// Data sets that programs register are planned, trained on and named in errors as ours are.
#include <fstream>
#include <iterator>

#include "builders/config/dataset.h"
#include "builders/config/dataset_registry.h"
#include "builders/config/run_config_reader.h"
#include "builders/config/text/config_values.h"
#include "builders/config/text/weights_description.h"
#include "builders/reference/explain.h"
#include "builders/reference/reference.h"
#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/io/temp_dir.h"
#include "tests/properties/device_meshes.h"
#include "tests/support/own_parts.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

constexpr const char* kToml = R"(
[[model.layers]]
type = "conv2d"
filters = 4
kernel = 3
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "dropout"
rate = 0.1
[[model.layers]]
type = "dense"
units = 3
[data]
dataset = "bars"
train_limit = 48
[data.bars]
count = 64
[training]
batch_size = 16
epochs = 2
clip_gradient_norm = 1
threads = 1
)";

AiModelBuilder BarsBuilder(const TempDir& directory, const std::vector<std::string>& set = {}) {
  RegisterOwnParts();
  return AiModelBuilder::FromToml(directory.Write("bars.toml", kToml), set);
}

TEST_CASE("a registered data set keeps the promises under every preset", "[own]") {
  const TempDir directory;
  Model first = BarsBuilder(directory).Build();
  first.SaveWeights(directory.File("weights"));
  const Trained expected = Train(first);
  CHECK(first.layout().train_count == 64);
  CHECK(first.planned().schedule.train_samples == 48);
  CHECK(first.planned().schedule.test_samples == 64);
  for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
    INFO(name);
    Model model = BarsBuilder(directory).Memory(memory).Build();
    const Trained trained = Train(model);
    CheckSame(expected, trained);
    CheckPlanIsRun(trained.plan, trained.result, false);
  }
}

TEST_CASE("a registered data set is the one that its source gives by hand", "[own]") {
  const TempDir directory;
  Model named = BarsBuilder(directory).Build();
  const Trained expected = Train(named);
  const DataLayout& layout = named.layout();
  const DatasetRow& row = *FindDataset("bars");
  const OwnOptions options = BarsOptions{.count = 64};
  AiModelBuilder builder = BarsBuilder(directory);
  builder.Data(layout,
               {row.open(options, DatasetPart::kTrain), row.open(options, DatasetPart::kTest)});
  Model by_hand = builder.Build();
  CheckSame(expected, Train(by_hand));
  CHECK(named.Clone().WeightsHash() == named.WeightsHash());
}

TEST_CASE("devices open a registered data set for themselves", "[own][devices]") {
  const TempDir directory;
  const auto weights = [&](const std::vector<std::string>& set) {
    Model model = BarsBuilder(directory, set).Build();
    const TrainingResult result = model.Train();
    if (model.planned().devices.size() > 1) CheckDevices(model, result);
    return model.WeightsHash();
  };
  const std::string parts = "training.gradient_accumulation_steps=2";
  const std::string alone = weights({parts, "sharding.reduction_groups=2"});
  CHECK(weights({"memory.num_devices=2", "sharding.data_parallel=2"}) == alone);
  CHECK(weights({"memory.num_devices=2"}) == weights({}));
}

TEST_CASE("a validation share is held out of registered data", "[own]") {
  const TempDir directory;
  Model model =
      BarsBuilder(directory, {"data.validation_fraction=0.25", "data.test_limit=8"}).Build();
  CHECK(model.planned().schedule.validation_samples == 12);
  CHECK(model.planned().schedule.test_samples == 8);
  CHECK(model.Train().test_accuracy.has_value());
}

TEST_CASE("weights name the registered data that they were trained on", "[own]") {
  const TempDir directory;
  Model model = BarsBuilder(directory, {"data.bars.noise=0.5"}).Build();
  model.Train();
  model.SaveWeights(directory.File("w.safetensors"));
  const auto file = OpenWeights(directory.File("w.safetensors"));
  const WeightsDescription description = ReadWeightsDescription(*file, {}, true);
  CHECK_FALSE(description.own_data);
  CHECK(description.class_names == std::vector<std::string>{"across", "down", "cross"});
  CHECK(description.config.data.dataset == "bars");
  const auto* options = description.config.data.options.As<BarsOptions>();
  REQUIRE(options != nullptr);
  CHECK(options->count == 64);
  CHECK(options->noise == 0.5);
}

TEST_CASE("a program that lacks the data set predicts with its weights", "[own]") {
  const TempDir directory;
  Model model = BarsBuilder(directory, {"data.bars.noise=0.5"}).Build();
  model.SaveWeights(directory.File("w.json"));
  std::ifstream file(directory.File("w.json"));
  std::string text(std::istreambuf_iterator<char>(file), {});
  for (std::size_t at = text.find("bars"); at != std::string::npos; at = text.find("bars")) {
    text.replace(at, 4, "rods");
  }
  const std::string path = directory.Write("rods.json", text);
  const std::vector<float> image(144, 0.5F);
  CHECK(Model::FromFile(path).Predict(image, 1) == model.Predict(image, 1));
  CHECK_THAT(MessageOf<ConfigError>([&] { ReadWeightsDescription(*OpenWeights(path), {}, true); }),
             Contains("unknown key 'rods'"));
}

TEST_CASE("a registered data set is in values, schema, reference and explanations", "[own]") {
  const TempDir directory;
  const std::string shown = ResolvedText(AllValues(BarsBuilder(directory).config()));
  CHECK_THAT(shown, Contains("bars.count = 64 (") && Contains("bars.noise = 1.0 (default)"));
  CHECK_THAT(ResolvedText(AllValues(RunConfig())), !Contains("bars"));
  CHECK_THAT(RunConfigSchema(), Contains("\"bars\"") && Contains("Samples of each part."));
  CHECK_THAT(ReferencePage(), Contains("- `bars`: Noisy images") &&
                                  Contains("- `fashion-mnist`: Clothes of 10 classes") &&
                                  Contains("| `bars.count` |"));
  CHECK_THAT(ExplainText("bars"), Contains("a data set") && Contains("bars.noise"));
  CHECK_THAT(ExplainText("data.bars.count"), Contains("--set data.bars.count=2048"));
  const AiModelBuilder in_code =
      AiModelBuilder().Data({.dataset = "bars", .options = BarsOptions{.count = 5}});
  CHECK(LayoutOf(DatasetOf(in_code.config().data)).train_count == 5);
  CHECK_THAT(ResolvedText(AllValues(in_code.config())), Contains("bars.count = 5 (code)"));
}

std::string DatasetRefusal(const std::string& from, const std::string& to) {
  RegisterOwnParts();
  std::string text = kToml;
  text.replace(text.find(from), from.size(), to);
  return MessageOf<ConfigError>([&] { ReadRunConfigText(text, "own.toml"); });
}

TEST_CASE("mistakes about registered data have their place and advice", "[own]") {
  CHECK_THAT(DatasetRefusal("\"bars\"", "\"bras\""),
             Contains("own.toml:15:1: [data] 'dataset' must be built in (fashion-mnist") &&
                 Contains("did you mean 'bars'?"));
  CHECK_THAT(DatasetRefusal("count = 64", "cuont = 64"),
             Contains("own.toml:18:1: [data.bars] unknown key 'cuont'; did you mean 'count'?"));
  CHECK_THAT(DatasetRefusal("count = 64", "count = 0"),
             Contains("own.toml:18:9: [data.bars] 'count' must be an integer >= 1"));
  CHECK_THAT(DatasetRefusal("\"bars\"", "\"fashion-mnist\""),
             Contains("[data] bars belongs to dataset = \"bars\"; dataset = \"fashion-mnist\""));
  CHECK_THAT(DatasetRefusal("train_limit = 48", "classes = 3"),
             Contains("[data] classes belongs to images; dataset = \"bars\""));
  CHECK_THAT(DatasetRefusal("train_limit = 48", "text_file = \"a.txt\""),
             Contains("dataset = \"bars\" is data of a program; text_file = \"a.txt\""));
  AiModelBuilder builder;
  builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 3}); });
  builder.Data({.dataset = "bars", .options = GainOptions()});
  CHECK_THAT(MessageOf<ConfigError>([&] { builder.Plan(); }),
             Contains("dataset = \"bars\", which has another struct"));
  builder.Data({.options = BarsOptions()});
  CHECK_THAT(MessageOf<ConfigError>([&] { builder.Plan(); }),
             Contains("dataset = \"fashion-mnist\", which has none"));
  const TempDir directory;
  CHECK_THAT(
      MessageOf<ConfigError>([&] { BarsBuilder(directory).Loss({.kind = LossKind::kMse}).Plan(); }),
      Contains("mse"));
  AiModelBuilder replaced = BarsBuilder(directory);
  replaced.Data({.dataset = "bars"});
  CHECK(replaced.Plan().layout.train_count == 2048);
}

struct NoOptions {};

// A data set of one feature that does what its name says.
void RegisterWrong(const std::string& name, const DataLayout& layout,
                   const std::function<std::shared_ptr<const DataSource>()>& open) {
  RegisterDataset<NoOptions>({.name = name,
                              .layout = [layout](const NoOptions&) { return layout; },
                              .open = [open](const NoOptions&, DatasetPart) { return open(); }});
}

TEST_CASE("registered data that break their word are refused in one sentence", "[own]") {
  RegisterOwnParts();
  DataLayout layout = SyntheticLayout(16, 8);
  static const bool registered = [&] {
    auto train = SyntheticSources(layout).train;
    RegisterWrong("wrong-count", layout, [train] { return train; });
    RegisterWrong("no-source", layout, [] { return nullptr; });
    DataLayout empty = layout;
    empty.train_count = 0;
    RegisterWrong("no-samples", empty, [train] { return train; });
    empty = layout;
    empty.sample_shape = {8, 0, 2};
    RegisterWrong("no-height", empty, [train] { return train; });
    Datasets().Add({.name = "no-functions"});
    return true;
  }();
  REQUIRE(registered);
  const auto trained = [](const std::string& name) {
    return MessageOf<Error>([&] {
      AiModelBuilder builder;
      builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 5}); });
      builder.Data({.dataset = name}).Training({.batch_size = 4}).Build().Train();
    });
  };
  CHECK_THAT(trained("wrong-count"), Contains("data set wrong-count") &&
                                         Contains("the test part has the 8 samples") &&
                                         Contains("the source has 16"));
  CHECK_THAT(trained("no-source"), Contains("null for the training part"));
  CHECK_THAT(trained("no-samples"), Contains("the training part has from 1 to 2^40 samples") &&
                                        Contains("the layout of \"no-samples\" has 0"));
  CHECK_THAT(trained("no-height"), Contains("all extents of a sample are at least 1"));
  CHECK_THAT(trained("no-functions"), Contains("it has no `layout`"));
  CHECK_THROWS_WITH(RegisterWrong("bars", layout, [] { return nullptr; }),
                    Contains("there is one called \"bars\" already"));
  CHECK_THROWS_WITH(RegisterWrong("shuffle", layout, [] { return nullptr; }),
                    Contains("\"shuffle\" is one of these keys"));
  CHECK_THROWS_WITH(RegisterWrong("my.data", layout, [] { return nullptr; }),
                    Contains("made of letters, digits"));
  CHECK_THROWS_WITH(RegisterDataset<NoOptions>({.name = "half"}), Contains("has no `layout`"));
}

}  // namespace
}  // namespace frugal::testing
