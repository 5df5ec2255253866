// Models for inference are made of weight files alone.
#include "builders/run/model.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/io/temp_dir.h"
#include "tests/samples/tiny_config.h"
#include "tests/support/own_parts.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

// Inputs of so many samples, the same at each call.
std::vector<float> Values(const Model& model, std::int64_t count) {
  std::vector<float> values(
      static_cast<std::size_t>(count * model.layout().sample_shape.ElementCount()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i * 37 % 101) / 101;
  return values;
}

std::vector<float> Outputs(Model& model, std::int64_t count) {
  if (model.layout().vocabulary == 0) return model.Predict(Values(model, count), count);
  std::vector<std::int64_t> tokens;
  const std::int64_t size = count * model.layout().sample_shape.ElementCount();
  for (std::int64_t i = 0; i < size; ++i) tokens.push_back(i * 5 % model.layout().vocabulary);
  return model.PredictTokens(tokens, count);
}

void CheckPlanIsRun(Model& model, std::int64_t batch) {
  const std::vector<float> all = Outputs(model, 3 * batch + 1);
  CHECK(all.size() % static_cast<std::size_t>(3 * batch + 1) == 0);
  const Plan& plan = model.plan();
  const MemoryMeasurement measured = model.Measured();
  CHECK(measured.peak_bytes == plan.peak_bytes);
  for (const MemoryTag tag : kAllMemoryTags)
    CHECK(measured.peak_by_purpose[tag] == plan.peak_by_purpose[tag]);
  CHECK(plan.peak_by_purpose[MemoryTag::kGradient] == 0);
  CHECK(plan.peak_by_purpose[MemoryTag::kOptimizerState] == 0);
  CHECK(plan.steps.size() == 1);
}

TEST_CASE("a model from a file predicts as the one that was saved, bit for bit") {
  const TempDir directory;
  std::vector<std::string> names = NetworkNames();
  for (const std::string& name : ArchitectureNames()) names.push_back(name);
  for (const std::string& name : names) {
    INFO(name);
    Model model = BuilderFor({.network = name, .memory = {}}).Build();
    model.Train();
    const std::string path = directory.File("w");
    model.SaveWeights(path);
    Model again = Model::FromFile(path, {.batch = 8});
    CHECK(again.WeightsHash() == model.WeightsHash());
    CHECK(Outputs(again, 11) == Outputs(model, 11));
    CheckPlanIsRun(again, 8);
    again.SaveWeights(directory.File("again"));
    CHECK(ReadAll(directory.File("again")) == ReadAll(path));
  }
}

TEST_CASE("an inference model's plan is its run under every preset, with and without bf16") {
  const TempDir directory;
  const Precision precision = GENERATE(Precision::kF32, Precision::kBF16);
  const std::string path = directory.File("w");
  SmallRun run;
  run.network = "resnet";
  run.precision = precision;
  Model model = BuilderFor(run).Build();
  model.SaveWeights(path);
  const std::vector<float> expected = Outputs(model, 5);
  for (const auto& [name, memory] : AllPresets(path)) {
    INFO(name);
    SmallRun other = run;
    other.memory = memory;
    Model trained = BuilderFor(other).Build();
    trained.LoadWeights(path);
    Model copy = trained.ForInference(4);
    CheckPlanIsRun(copy, 4);
    Model same = trained.ForInference(5);
    CHECK(Outputs(same, 5) == expected);
    Model file =
        Model::FromFile(path, {.batch = 4, .overrides = {"memory.use_activation_pooling=false"}});
    CheckPlanIsRun(file, 4);
  }
}

TEST_CASE("models from files use averages of weights as they were saved") {
  const TempDir directory;
  SmallRun run;
  run.network = "mlp";
  run.optimizer = {.lr = 0.05, .ema_decay = 0.9};
  Model model = BuilderFor(run).Build();
  model.Train();
  model.SaveWeights(directory.File("w"));
  Model file = Model::FromFile(directory.File("w"));
  Model copy = model.ForInference();
  CHECK(Outputs(file, 3) == Outputs(model, 3));
  CHECK(Outputs(copy, 3) == Outputs(model, 3));
  Model clone = copy.Clone();
  CHECK(Outputs(clone, 3) == Outputs(model, 3));
  CHECK_FALSE(clone.trains());
}

TEST_CASE("inference models refuse what they were not made for") {
  const TempDir directory;
  Model model = BuilderFor({.network = "mlp", .memory = {}}).Build();
  model.SaveWeights(directory.File("w"));
  Model file = Model::FromFile(directory.File("w"));
  const std::string refusal =
      "a model that was made to train; this one was made for inference, without gradients; build "
      "one by AiModelBuilder";
  CheckContains(MessageOf<UsageError>([&] { file.Train(); }), "[Model::Train] " + refusal);
  CheckContains(MessageOf<UsageError>([&] { file.TrainStep(std::vector<std::int64_t>{0}); }),
                "[Model::TrainStep] " + refusal);
  CheckContains(MessageOf<UsageError>([&] { file.Evaluate(); }),
                "the model was made for predictions alone; make it by Model::FromFile with");
  CheckContains(
      MessageOf<UsageError>([&] { Model::FromFile(directory.File("w"), {.evaluates = true}); }),
      "data to evaluate on; the network was trained on data of a program's own");
  CheckContains(MessageOf<UsageError>([&] { Model::FromFile(directory.File("w"), {.batch = -1}); }),
                "batch is at least 1");
  CheckContains(MessageOf<WeightFileError>([&] { Model::FromFile(directory.File("nowhere")); }),
                "nowhere");
}

TEST_CASE("many samples go through in chunks of the planned batch") {
  Model model = BuilderFor({.network = "convnet", .memory = {}}).Build();  // evaluates 8 at a time
  const std::vector<float> inputs = Values(model, 20);
  const std::vector<float> all = model.Predict(inputs, 20);
  std::vector<float> parts;
  for (const auto& [begin, count] : {std::pair{0, 8}, std::pair{8, 8}, std::pair{16, 4}}) {
    const auto some =
        model.Predict(std::span(inputs).subspan(static_cast<std::size_t>(begin) * 128,
                                                static_cast<std::size_t>(count) * 128),
                      count);
    parts.insert(parts.end(), some.begin(), some.end());
  }
  CHECK(all == parts);
  Model few = model.ForInference(8);
  const std::int64_t peak = few.plan().peak_bytes;
  CHECK(few.Predict(Values(model, 1000), 1000).size() == 5000);
  CHECK(few.Measured().peak_bytes == peak);
}

// Layers that a program registers are in its files.
TEST_CASE("files know the layers that a program registered") {
  RegisterOwnParts();
  const TempDir directory;
  AiModelBuilder builder = BuilderFor({.network = "mlp", .memory = {}});
  builder.Layers(
      [](LayerList& layers) { layers.Flatten().Add<Gain>({.start = 2}).Dense({.units = 5}); });
  Model model = builder.Build();
  model.SaveWeights(directory.File("w"));
  Model file = Model::FromFile(directory.File("w"));
  CHECK(Outputs(file, 3) == Outputs(model, 3));
}

TEST_CASE("networks of a function of the program are copied, and refused from files") {
  const TempDir directory;
  AiModelBuilder builder = BuilderFor({.network = "mlp", .memory = {}});
  builder.Network([] {
    auto network = std::make_unique<Sequential>();
    network->Append("flatten", std::make_unique<FlattenLayer>());
    network->Append("head", std::make_unique<Dense>(128, DenseOptions{.units = 5}));
    return network;
  });
  Model model = builder.Build();
  Model copy = model.ForInference();
  CHECK(Outputs(copy, 3) == Outputs(model, 3));
  model.SaveWeights(directory.File("w"));
  CheckContains(MessageOf<WeightFileError>([&] { Model::FromFile(directory.File("w")); }),
                "a function of the program makes the network; build the model in the program");
}

TEST_CASE("a model from a file evaluates on its test part, and takes no training data") {
  const TempDir directory;
  WriteTinyData(directory);
  std::string toml = kTinyConfig;
  for (const char* key : {"train_images", "train_labels", "test_images", "test_labels"}) {
    const std::string name = std::string(key) + ".idx";
    toml.replace(toml.find('"' + name), 1 + name.size(), '"' + directory.File(name));
  }
  Model model(AiModelBuilder::FromToml(directory.Write("tiny.toml", toml)).Plan());
  const EvaluationResult expected = (model.Train(), model.Evaluate());
  model.SaveWeights(directory.File("w"));
  std::filesystem::remove(directory.File("train_images.idx"));
  Model file =
      Model::FromFile(directory.File("w"),
                      {.batch = 4, .evaluates = true, .overrides = {"training.metrics=[\"f1\"]"}});
  const EvaluationResult result = file.Evaluate();
  CHECK(result.loss == expected.loss);
  CHECK(result.accuracy == expected.accuracy);
  CHECK(result.metrics.at(0).name == "f1");
  Outputs(file, 4);
  CHECK(file.Measured().peak_bytes == file.plan().peak_bytes);
  CHECK(file.plan().peak_by_purpose[MemoryTag::kGradient] == 0);
  CheckContains(MessageOf<ConfigError>([&] {
                  Model::FromFile(directory.File("w"),
                                  {.evaluates = true, .overrides = {"data.sample_shape=[4,4,3]"}});
                }),
                "data as the network was trained on, samples [4, 4, 1] of 3 classes");
}

}  // namespace
}  // namespace frugal::testing
