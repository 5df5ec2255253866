// OptimizerOptions::ema_decay: the moving average of the weights, and who sees it.
#include <cmath>

#include "sdk/optim/optimizer.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

using testing::EnvironmentKind;
using testing::kReferenceF32;
using testing::kReferenceF64;
using testing::MakeTensor;
using testing::TestEnvironment;
using testing::Values;

// One parameter and its average.
struct AveragedSetup {
  explicit AveragedSetup(const EnvironmentKind& kind) : environment(kind) {
    parameter.path = "p";
    parameter.shape = {3};
    parameter.initializer = Initializer::Constant(1);
    parameter.index = 0;
  }
  void Step(const Optimizer& optimizer, std::int64_t number, const std::vector<double>& gradient) {
    environment.context().set_step(number);
    environment.store().ClearGradients();
    environment.backend().elementwise().Copy(MakeTensor({3}, gradient, environment.dtype()),
                                             environment.store().GradientFor(parameter).tensor);
    Parameter* const list[] = {&parameter};
    optimizer.Step(environment.context(), list);
  }
  std::vector<double> Average() {
    return Values(
        environment.store().State(parameter, ParameterStore::kAverage, environment.backend()));
  }
  bool HasAverage() { return environment.store().HasState(parameter, ParameterStore::kAverage); }

  TestEnvironment environment;
  Parameter parameter;
};

OptimizerOptions Averaged(OptimizerKind kind, double decay) {
  return {.kind = kind, .lr = 0.3, .ema_decay = decay};
}

TEST_CASE("the average follows its formula step by step") {
  for (const EnvironmentKind& kind : testing::AllEnvironments()) {
    for (const OptimizerKind rule : {OptimizerKind::kSgd, OptimizerKind::kAdamW}) {
      for (const double decay : {0.2, 0.999}) {
        AveragedSetup setup(kind);
        const Optimizer optimizer(Averaged(rule, decay), {}, 0, 10);
        std::vector<double> expected(3);
        for (std::int64_t t = 0; t < 8; ++t) {
          setup.Step(optimizer, t, {1, -0.5 * static_cast<double>(t), 0});
          const std::vector<double> weight =
              Values(setup.environment.store().Value(setup.parameter));
          const auto step = static_cast<double>(t);
          const double d = std::min(decay, step / (step + 10));
          for (std::size_t i = 0; i < 3; ++i) {
            expected[i] = d * expected[i] + (1 - d) * weight[i];
          }
          CHECK(testing::MaxError(setup.Average(), expected) < 1e-5);
          if (t == 0) CHECK(setup.Average() == weight);
        }
      }
    }
  }
}

TEST_CASE("a parameter whose first gradient comes late starts from its own value") {
  AveragedSetup setup(kReferenceF64);
  const Optimizer optimizer(Averaged(OptimizerKind::kSgd, 0.9), {}, 0, 100);
  setup.Step(optimizer, 50, {1, 0, 0});
  CHECK(setup.Average() == Values(setup.environment.store().Value(setup.parameter)));
  setup.Step(optimizer, 51, {1, 0, 0});
  const double d = 51.0 / 61;
  CHECK(setup.Average()[0] == Approx(d * 0.7 + (1 - d) * 0.4));
}

TEST_CASE("without a decay there is no average") {
  AveragedSetup setup(kReferenceF32);
  const Optimizer optimizer(Averaged(OptimizerKind::kAdamW, 0), {}, 0, 10);
  setup.Step(optimizer, 0, {1, 1, 1});
  CHECK_FALSE(setup.HasAverage());
  const std::vector<double> before = Values(setup.environment.store().Value(setup.parameter));
  setup.environment.store().SwapEma(setup.parameter, setup.environment.backend());
  CHECK(Values(setup.environment.store().Value(setup.parameter)) == before);
}

TEST_CASE("a weight and its average change places and back") {
  AveragedSetup setup(kReferenceF64);
  const Optimizer optimizer(Averaged(OptimizerKind::kSgd, 0.9), {}, 0, 10);
  for (std::int64_t t = 0; t < 3; ++t) setup.Step(optimizer, t, {1, 2, 3});
  const std::vector<double> weight = Values(setup.environment.store().Value(setup.parameter));
  const std::vector<double> average = setup.Average();
  CHECK(weight != average);
  setup.environment.store().SwapEma(setup.parameter, setup.environment.backend());
  CHECK(Values(setup.environment.store().Value(setup.parameter)) == average);
  CHECK(setup.Average() == weight);
  setup.environment.store().SwapEma(setup.parameter, setup.environment.backend());
  CHECK(Values(setup.environment.store().Value(setup.parameter)) == weight);
}

SmallRun RunWith(double decay, Precision precision = Precision::kF32) {
  SmallRun run;
  run.network = "mlp";
  run.precision = precision;
  run.optimizer = {.lr = 0.02, .ema_decay = decay};
  return run;
}

Model TrainedModel(const SmallRun& run, std::int64_t steps = 6) {
  Model model = BuilderFor(run).Build();
  const std::vector<std::int64_t> samples = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::int64_t i = 0; i < steps; ++i) model.TrainStep(samples);
  return model;
}

std::vector<float> PredictSome(Model& model) {
  const std::vector<double> x = Values(testing::RandomTensor({3, 8, 8, 2}, 5));
  return model.Predict(std::vector<float>(x.begin(), x.end()), 3);
}

TEST_CASE("averaging moves no weight of the training") {
  Model plain = TrainedModel(RunWith(0));
  Model averaged = TrainedModel(RunWith(0.9));
  for (const Parameter* parameter : plain.parameters()) {
    CHECK(plain.Values(parameter->path) == averaged.Values(parameter->path));
  }
  CHECK(plain.WeightsHash() != averaged.WeightsHash());
  CHECK(plain.Evaluate().loss != averaged.Evaluate().loss);
  CHECK(PredictSome(plain) != PredictSome(averaged));
  // Evaluating and predicting between steps moves none either.
  averaged.TrainStep(std::vector<std::int64_t>{9, 10});
  plain.TrainStep(std::vector<std::int64_t>{9, 10});
  for (const Parameter* parameter : plain.parameters()) {
    CHECK(plain.Values(parameter->path) == averaged.Values(parameter->path));
  }
}

// Checks that the saved weights are those that predicted: another model that loads them predicts
// the same.
void CheckSavedIsUsed(Precision precision) {
  const TempDir directory;
  const std::string path = directory.File("weights.safetensors");
  Model averaged = TrainedModel(RunWith(0.9, precision));
  const std::vector<float> outputs = PredictSome(averaged);
  averaged.SaveWeights(path);
  for (const double decay : {0.0, 0.9}) {
    Model other = BuilderFor(RunWith(decay, precision)).Build();
    other.LoadWeights(path);
    CHECK(PredictSome(other) == outputs);
    CHECK(other.WeightsHash() == averaged.WeightsHash());
  }
}

TEST_CASE("saved weights and predictions are the average's") { CheckSavedIsUsed(Precision::kF32); }

TEST_CASE("bf16 copies of weights follow the average and back") {
  CheckSavedIsUsed(Precision::kBF16);
  // A prediction in between leaves the copies that training goes on with.
  Model asked = TrainedModel(RunWith(0.9, Precision::kBF16));
  PredictSome(asked);
  Model left = TrainedModel(RunWith(0.9, Precision::kBF16));
  const std::vector<std::int64_t> samples = {3, 4, 5, 6};
  CHECK(asked.TrainStep(samples).loss == left.TrainStep(samples).loss);
  CHECK(asked.WeightsHash() == left.WeightsHash());
}

TEST_CASE("in the scope of averages values are the averages") {
  Model model = TrainedModel(RunWith(0.9));
  const std::string path = model.parameters().front()->path;
  const std::vector<double> weights = model.Values(path);
  const std::vector<float> outputs = PredictSome(model);
  {
    const Model::EmaScope scope(model);
    CHECK(model.Values(path) != weights);
    CHECK(PredictSome(model) == outputs);  // a scope inside does nothing
    const Model::EmaScope inner(model);
    CHECK(PredictSome(model) == outputs);
  }
  CHECK(model.Values(path) == weights);
}

TEST_CASE("a model that was not trained predicts by its weights") {
  Model plain = BuilderFor(RunWith(0)).Build();
  Model averaged = BuilderFor(RunWith(0.9)).Build();
  CHECK(PredictSome(plain) == PredictSome(averaged));
}

TEST_CASE("loading weights ends the average of what was there before") {
  const TempDir directory;
  const std::string path = directory.File("weights.safetensors");
  Model other = TrainedModel(RunWith(0), 2);
  other.SaveWeights(path);
  Model averaged = TrainedModel(RunWith(0.9));
  averaged.LoadWeights(path);
  CHECK(PredictSome(averaged) == PredictSome(other));
  CHECK(averaged.WeightsHash() == other.WeightsHash());
}

TEST_CASE("a copy of a model has its average") {
  Model averaged = TrainedModel(RunWith(0.9));
  Model copy = averaged.Clone();
  CHECK(PredictSome(copy) == PredictSome(averaged));
  CHECK(copy.WeightsHash() == averaged.WeightsHash());
  const std::string path = averaged.parameters().front()->path;
  CHECK(copy.Values(path) == averaged.Values(path));
}

TEST_CASE("a text is continued by the average") {
  SmallRun run = RunWith(0.9);
  run.network = "gpt2";
  Model averaged = TrainedModel(run, 8);
  const TempDir directory;
  const std::string path = directory.File("weights.safetensors");
  averaged.SaveWeights(path);
  Model other = BuilderFor(run).Build();
  other.LoadWeights(path);
  const std::vector<std::int64_t> prompt = {1, 2};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const GenerateOptions options = {.count = 3, .sampling = {.seed = seed}, .window = 6};
    CHECK(averaged.Generate(prompt, options) == other.Generate(prompt, options));
  }
}

TEST_CASE("planned memory holds the averages") {
  const Plan plain = BuilderFor(RunWith(0)).Plan().plan;
  const Plan averaged = BuilderFor(RunWith(0.9)).Plan().plan;
  const auto state = [](const Plan& plan) {
    return plan.peak_by_purpose[MemoryTag::kOptimizerState];
  };
  CHECK(state(averaged) == state(plain) / 2 * 3);  // adamw has two
  const Trained trained = Train(RunWith(0.9));
  CHECK(trained.plan.peak_bytes == trained.result.memory.peak_bytes);
}

}  // namespace
}  // namespace frugal::testing
