// A training whose numbers are no longer finite stops before it spoils anything.
#include "builders/ai_model_builder.h"
#include "builders/run_training.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/io/temp_dir.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"

namespace frugal::testing {
namespace {

constexpr const char* kDivergingNetwork = R"(
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "dense"
units = 8
activation = "relu"
[[model.layers]]
type = "dense"
units = 3
)";

// tiny.toml with a hidden layer whose relu once hid that it diverged.
std::string Config(const std::string& more) {
  std::string text = kTinyConfig;
  const std::size_t layers = text.find("[[model.layers]]");
  text.replace(layers, text.find("[training]") - layers, kDivergingNetwork);
  return text + more;
}

// Images that are not all black, so that weights move.
void WriteData(const TempDir& directory) {
  WriteTinyData(directory);
  std::string images = IdxFile({8, 4, 4});
  for (std::size_t i = 16; i < images.size(); ++i) images[i] = static_cast<char>(i * 37);
  directory.Write("train_images.idx", images);
}

constexpr const char* kTooFast = "max_steps = 4\n[optimizer]\nkind = \"sgd\"\nlr = 1e30\n";

TEST_CASE("a training that diverges stops, and leaves the files of before", "[divergence]") {
  const TempDir directory;
  WriteData(directory);
  directory.Write("fast.toml", Config(kTooFast));
  directory.Write("w.safetensors", "good");
  directory.Write("s.json", "good");
  const ProgramRun run =
      Frugal(directory, "train fast.toml --weights w.safetensors --summary s.json --quiet");
  CHECK(run.exit_code == 3);
  CheckContains(run.errors,
                "error: [training.on_divergence] a training goes on while its numbers "
                "are finite; the loss of step ");
  CHECK(ReadAll(directory.File("w.safetensors")) == "good");
  CHECK(ReadAll(directory.File("s.json")) == "good");
  CheckContains(run.errors,
                "the weights of the last good step are in "
                "w.before_divergence.safetensors, and no other file was written");
  CHECK(OpenWeights(directory.File("w.before_divergence.safetensors"))->Entries().size() == 4);
}

TEST_CASE("a training that is told to goes on with what is not finite", "[divergence]") {
  const TempDir directory;
  WriteData(directory);
  directory.Write("fast.toml", Config(kTooFast));
  const ProgramRun run = Frugal(directory,
                                "train fast.toml --weights w.safetensors --quiet --set "
                                "training.on_divergence=warn");
  CHECK(run.exit_code == 0);
  CheckContains(run.errors, "warning: the loss of step ");
  CheckContains(run.errors, "is not finite");
  CHECK(std::filesystem::exists(directory.File("w.safetensors")));
}

// Builds models for the same training, on data of its own.
struct Trainer {
  explicit Trainer(const std::string& more) {
    WriteData(directory);
    directory.Write("t.toml", Config(more));
    for (const char* key : {"train_images", "train_labels", "test_images", "test_labels"}) {
      overrides.push_back("data." + std::string(key) + "=\"" +
                          directory.File(std::string(key) + ".idx") + "\"");
    }
  }
  Model Build() const {
    return AiModelBuilder::FromToml(directory.File("t.toml"), overrides).Build();
  }
  TempDir directory;
  std::vector<std::string> overrides;
};

std::vector<double> AllValues(Model& model) {
  std::vector<double> all;
  for (const Parameter* parameter : model.parameters()) {
    const std::vector<double> values = model.Values(parameter->path);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST_CASE("a step whose gradients have no norm changes no weight", "[divergence]") {
  for (const std::string backward : {"false", "true"}) {
    const Trainer trainer("clip_gradient_norm = 1\n[memory]\noptimizer_in_backward = " + backward +
                          "\n[optimizer]\nkind = \"sgd\"\nlr = 1e30\n");
    Model model = trainer.Build();
    const std::vector<std::int64_t> samples = {0, 1, 2, 3};
    std::vector<double> before = AllValues(model);
    std::string message;
    for (int step = 0; step < 8 && message.empty(); ++step) {
      before = AllValues(model);
      message = MessageOf<DivergenceError>([&] { model.TrainStep(samples); });
      if (message == "no error") message.clear();
    }
    CheckContains(message, "[training.on_divergence]");
    CHECK(AllValues(model) == before);
    CHECK(MessageOf<DivergenceError>([&] { model.TrainStep(samples); }) != "no error");
  }
}

TEST_CASE("weight files that hold NaN are refused, or taken with a warning", "[divergence]") {
  const Trainer trainer("");
  Model model = trainer.Build();
  const std::string path = trainer.directory.File("w.safetensors");
  model.SaveWeights(path);
  std::string bytes = ReadAll(path);
  bytes.replace(bytes.size() - 4, 4, std::string("\x00\x00\xc0\x7f", 4));
  trainer.directory.Write("w.safetensors", bytes);
  const std::string message = MessageOf<WeightFileError>([&] { model.LoadWeights(path); });
  CheckContains(message, "w.safetensors] weights are finite numbers; tensor 2.weight holds some");

  std::vector<std::string> lenient = trainer.overrides;
  lenient.emplace_back("training.on_divergence=warn");
  Model warned = AiModelBuilder::FromToml(trainer.directory.File("t.toml"), lenient).Build();
  warned.LoadWeights(path);
  CHECK_NOTHROW(warned.SaveWeights(trainer.directory.File("again.safetensors")));
  CHECK(ReadAll(trainer.directory.File("again.safetensors")).size() > 0);
}

TEST_CASE("weights that are not finite are not saved", "[divergence]") {
  const Trainer trainer("");
  Model model = trainer.Build();
  const std::string path = trainer.directory.File("w.safetensors");
  trainer.directory.Write("w.safetensors", "good");
  // The update of a finite gradient passes the largest number.
  const Trainer fast("[optimizer]\nkind = \"sgd\"\nlr = 1e38\nweight_decay = 1e30\n");
  Model broken = fast.Build();
  const std::vector<std::int64_t> samples = {0, 1, 2, 3};
  broken.TrainStep(samples);
  const std::string message = MessageOf<DivergenceError>([&] { broken.SaveWeights(path); });
  CheckContains(message, "parameter 1.weight holds numbers that are not finite");
  CHECK(ReadAll(path) == "good");
}

TEST_CASE("a mean or deviation that f32 cannot hold is refused", "[divergence]") {
  const TempDir directory;
  WriteData(directory);
  directory.Write("t.toml", Config(""));
  for (const std::string value : {"data.mean=1e308", "data.std=1e-320", "data.std=1e-46"}) {
    const ProgramRun run = Frugal(directory, "train t.toml --quiet --set " + value);
    INFO(value);
    CHECK(run.exit_code == 1);
    CheckContains(run.errors,
                  "error: --set " + value + ": [" + value.substr(0, value.find('=')) + "] ");
  }
}

}  // namespace
}  // namespace frugal::testing
