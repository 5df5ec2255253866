// A network over tokens, from a text file to its predictions. Its only layer looks up the logits of
// the next byte in a table: a bigram model.
#include <cmath>

#include "builders/plan/planner.h"
#include "builders/run/model.h"
#include "builders/setup/network_inputs.h"
#include "sdk/core/error.h"
#include "sdk/ops/embedding.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

class Bigrams final : public Layer {
 public:
  explicit Bigrams(std::int64_t vocabulary)
      : table_(AddParameter("weight", {vocabulary, vocabulary}, Initializer::Normal(0, 0.1))) {}
  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "bigrams"; }
  bool TakesTokens() const override { return true; }

 private:
  Var Forward(Context& context, const Var& input) override {
    return Embedding(context, input.value, table_);
  }
  Parameter& table_;
};

// Words "abcd abcd ...": each byte but the blank tells the next one.
std::string Words(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += "abcd "[i % 5];
  return text;
}

struct Run {
  BackendKind backend = BackendKind::kOneDnn;
  Precision precision = Precision::kF32;
  double test_fraction = 0.2;
};

PlannedTraining PlanOf(const std::string& text_file, const Run& run) {
  TrainingSetup setup;
  setup.config.data = {
      .text_file = text_file, .sequence_length = 7, .test_fraction = run.test_fraction};
  setup.config.training.precision = run.precision;
  setup.config.optimizer = {.lr = 0.3};
  setup.dataset = DatasetOf(setup.config.data);
  setup.layout = LayoutOf(*setup.dataset);
  const DataLayout& layout = setup.layout;
  setup.schedule = {.train_samples = layout.train_count,
                    .test_samples = layout.test_count,
                    .batch = 4,
                    .evaluation_batch = 3,
                    .drop_last = true,
                    .steps_per_epoch = layout.train_count / 4,
                    .total_steps = layout.train_count / 4};
  setup.backend = MakeBackend(run.backend);
  setup.network = std::make_unique<Sequential>();
  setup.network->Append("bigrams", std::make_unique<Bigrams>(layout.vocabulary));
  setup.network->AssignPaths("");
  setup.inputs = ResolveInputs(*setup.network, layout, nullptr);
  setup.parameters = NumberParameters(*setup.network);
  setup.optimizer = std::make_unique<Optimizer>(setup.config.optimizer, setup.config.schedule, 0,
                                                setup.schedule.total_steps);
  return PlanTraining(std::move(setup));
}

std::vector<std::int64_t> Tokens(const std::string& text) { return {text.begin(), text.end()}; }

TEST_CASE("a network over tokens learns a text, as planned", "[train]") {
  const TempDir directory;
  const std::string path = directory.Write("words", Words(1000));
  for (const Run& run : {Run{}, Run{BackendKind::kEigen, Precision::kF32},
                         Run{BackendKind::kEigen, Precision::kF64}}) {
    Model model(PlanOf(path, run));
    CHECK(model.plan().layers.back().output == Shape{4, 7, 256});
    const TrainingResult result = model.Train();
    CHECK(std::abs(result.losses.front() - std::log(256)) < 0.1);
    CHECK(result.losses.back() < 0.5);
    CHECK(result.memory.peak_bytes == model.plan().peak_bytes);
    CHECK(result.memory.peak_by_purpose == model.plan().peak_by_purpose);
    // Every position counts, over several batches of which the last is smaller.
    REQUIRE(result.test_accuracy);
    CHECK(*result.test_accuracy == 1.0);
    CHECK(*result.test_loss < 0.5);
  }
}

TEST_CASE("accuracy is the share of positions", "[train]") {
  const TempDir directory;
  Model model(PlanOf(directory.Write("words", Words(1000)), {}));
  model.Train();
  model.SaveWeights(directory.File("weights.safetensors"));
  // 28 samples to test on, from byte 798; the second 14 say "bb", which no word does.
  Model other(PlanOf(directory.Write("half", Words(896) + std::string(104, 'b')), {}));
  other.LoadWeights(directory.File("weights.safetensors"));
  const EvaluationResult result = other.Evaluate();
  CHECK(result.samples == 28);
  CHECK(*result.accuracy == 0.5);
}

TEST_CASE("predictions of tokens are the outputs of every position", "[train]") {
  const TempDir directory;
  for (const Precision precision : {Precision::kF32, Precision::kF64}) {
    Model model(PlanOf(directory.Write("words", Words(1000)), {BackendKind::kEigen, precision}));
    const std::vector<double> table = model.Values("bigrams.weight");
    const auto tokens = Tokens("abcd ab cd dcb");
    const std::vector<float> outputs = model.PredictTokens(tokens, 2);
    REQUIRE(outputs.size() == 14 * 256);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto row = static_cast<std::size_t>(tokens[i / 256]);
      wrong += outputs[i] != static_cast<float>(table[row * 256 + i % 256]);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("inputs of the wrong kind or size are refused", "[train]") {
  const TempDir directory;
  Model model(PlanOf(directory.Write("words", Words(1000)), {}));
  const auto tokens = [&](const std::vector<std::int64_t>& values, std::int64_t count) {
    return MessageOf<UsageError>([&] { model.PredictTokens(values, count); });
  };
  CHECK(MessageOf<UsageError>([&] { model.Predict(std::vector<float>(7), 1); }) ==
        "[Model::Predict] the model's inputs are token numbers; values were given; call "
        "PredictTokens");
  CHECK(tokens(Tokens("abc"), 1) ==
        "[Model::PredictTokens] inputs hold count x [7] tokens; 3 tokens and count = 1; give whole "
        "samples");
  CheckContains(tokens({}, 0), "0 tokens and count = 0");
  CheckContains(tokens(Tokens("abcdefg"), -1), "count = -1");
  CheckContains(tokens(Tokens("abcdefg"), INT64_MAX), "7 tokens");
  CHECK(tokens({1, 2, 3, 4, 5, 6, 256}, 1) ==
        "[Model::PredictTokens] tokens lie in [0, 256); token 256 was given; give numbers of the "
        "vocabulary");
  CheckContains(tokens({1, 2, 3, 4, 5, 6, -1}, 1), "token -1 was given");
}

TEST_CASE("a text without a test part is trained on and not evaluated", "[train]") {
  const TempDir directory;
  Model model(PlanOf(directory.Write("words", Words(200)), {.test_fraction = 0}));
  const TrainingResult result = model.Train();
  CHECK_FALSE(result.test_loss);
  CHECK(result.memory.peak_bytes == model.plan().peak_bytes);
  CheckContains(MessageOf<UsageError>([&] { model.Evaluate(); }), "test_fraction = 0");
}

}  // namespace
}  // namespace frugal::testing
