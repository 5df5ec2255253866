// Evaluations within a training: metrics, every so many steps, the best one, an early end; and what
// observers may ask for.
#include <cmath>
#include <fstream>
#include <sstream>

#include "builders/run_training.h"
#include "sdk/core/error.h"
#include "sdk/metrics/metric_registry.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

SmallRun RunOf(const std::string& network) {
  SmallRun run;
  run.network = network;
  run.threads = 1;
  run.max_steps = 6;
  return run;
}

AiModelBuilder With(const SmallRun& run, const std::vector<std::string>& values) {
  return BuilderFor(run).Override(values);
}

double ValueOf(const EvaluationResult& result, const std::string& name) {
  for (const MetricValue& metric : result.metrics) {
    if (metric.name == name) return metric.value;
  }
  FAIL("no metric " << name);
  return 0;
}

TEST_CASE("metrics of evaluations are those of the outputs, planned as they run", "[evaluation]") {
  for (const std::string network : {"mlp", "gpt2"}) {
    INFO(network);
    Model model =
        With(RunOf(network), {"training.metrics=[\"accuracy\", \"top_2\", \"f1\", \"perplexity\", "
                              "\"confusion_matrix\"]",
                              "training.evaluate_every=4"})
            .Build();
    const Trained trained = Train(model);
    CheckPlanIsRun(trained.plan, trained.result, false);
    REQUIRE(trained.result.evaluations.size() >= 2);
    CHECK(trained.result.evaluations.front().step == 4);
    const EvaluationResult& last = trained.result.evaluations.back().result;
    REQUIRE(last.accuracy);
    CHECK(ValueOf(last, "accuracy") == Approx(*last.accuracy));
    CHECK(ValueOf(last, "confusion_matrix") == Approx(*last.accuracy));
    CHECK(ValueOf(last, "top_2") >= *last.accuracy);
    CHECK(ValueOf(last, "perplexity") == Approx(std::exp(last.loss)).epsilon(1e-4));
    CHECK(last.metrics.back().matrix.size() == static_cast<std::size_t>(model.layout().classes));
    // Evaluating changes nothing of the training.
    const Trained quiet = Train(RunOf(network));
    CHECK(quiet.result.losses == trained.result.losses);
    CHECK(quiet.result.weights_hash == trained.result.weights_hash);
  }
}

TEST_CASE("several devices come to the metrics of one", "[evaluation]") {
  const std::vector<std::string> metrics = {
      "training.metrics=[\"f1\", \"auroc\", \"confusion_matrix\"]"};
  const EvaluationResult alone = With(RunOf("mlp"), metrics).Build().Evaluate();
  for (const std::int64_t replicas : {1, 2}) {
    for (const std::int64_t stage : {0, 3}) {
      if (stage == 3 && replicas == 1) continue;
      SmallRun run = RunOf("mlp");
      run.memory.num_devices = 2;
      run.sharding.data_parallel = replicas;
      run.sharding.zero_stage = stage;
      Model model = With(run, metrics).Build();
      const EvaluationResult split = model.Evaluate();
      CHECK(split.loss == alone.loss);
      for (std::size_t i = 0; i < alone.metrics.size(); ++i) {
        CHECK(split.metrics[i].value == alone.metrics[i].value);
        CHECK(split.metrics[i].matrix == alone.metrics[i].matrix);
      }
    }
  }
}

// Gets worse with each evaluation.
class Falling final : public Metric {
 public:
  void Add(const MetricBatch&) override {}
  double Value() const override { return -static_cast<double>(resets_); }
  void Reset() override { ++resets_; }

 private:
  std::int64_t resets_ = 0;
};

class Failing final : public Metric {
 public:
  void Add(const MetricBatch&) override { throw std::runtime_error("out of luck"); }
  double Value() const override { return 0; }
  void Reset() override {}
};

void RegisterOwnMetrics() {
  if (Metrics().Find("falling") != nullptr) return;
  Metrics().Add({.name = "falling", .doc = "Falls.", .make = [](const MetricSetup&) {
                   return std::make_unique<Falling>();
                 }});
  Metrics().Add({.name = "failing", .doc = "Fails.", .make = [](const MetricSetup&) {
                   return std::make_unique<Failing>();
                 }});
}

class StopAfter final : public TrainingObserver {
 public:
  explicit StopAfter(std::int64_t steps) : left_(steps) {}
  void OnStep(const StepProgress&) override { --left_; }
  void OnEpoch(const EpochResult&) override {}
  void Steer(TrainingControl& control) override {
    if (left_ <= 0) control.Stop();
  }

 private:
  std::int64_t left_;
};

TEST_CASE("a training stops early by a metric of one's own and keeps the best weights",
          "[evaluation]") {
  RegisterOwnMetrics();
  const TempDir directory;
  Model model = With(RunOf("mlp"), {"training.metrics=[\"falling\"]", "training.best_by=falling",
                                    "training.evaluate_every=1", "training.patience=2",
                                    "output.best_weights=" + directory.File("best.safetensors")})
                    .Build();
  const TrainingResult result = model.Train();
  CHECK(result.stopped_early);
  CHECK(result.steps == 3);
  REQUIRE(result.best);
  CHECK(result.best->step == 1);
  // The best weights are those behind the first step, whoever stops there.
  Model best = BuilderFor(RunOf("mlp")).Build();
  best.LoadWeights(directory.File("best.safetensors"));
  Model stopped = BuilderFor(RunOf("mlp")).Build();
  StopAfter first(1);
  stopped.Train(&first);
  CHECK(best.WeightsHash() == stopped.WeightsHash());
  CHECK(best.WeightsHash() != model.WeightsHash());
}

TEST_CASE("a metric that throws is named", "[evaluation]") {
  RegisterOwnMetrics();
  CHECK_THROWS_WITH(With(RunOf("mlp"), {"training.metrics=[\"failing\"]"}).Build().Evaluate(),
                    Contains("[metric failing]") && Contains("\"out of luck\""));
}

TEST_CASE("the rate drops on a plateau", "[evaluation]") {
  RegisterOwnMetrics();
  class Rates final : public TrainingObserver {
   public:
    void OnStep(const StepProgress& progress) override { rates.push_back(progress.learning_rate); }
    void OnEpoch(const EpochResult&) override {}
    std::vector<double> rates;
  };
  Rates seen;
  With(RunOf("mlp"),
       {"training.metrics=[\"falling\"]", "training.best_by=falling", "training.evaluate_every=1",
        "schedule.kind=plateau", "schedule.plateau_patience=2", "schedule.step_factor=0.5"})
      .Build()
      .Train(&seen);
  CHECK(seen.rates == std::vector<double>{0.01, 0.01, 0.01, 0.005, 0.005, 0.0025});
}

class Asking final : public TrainingObserver {
 public:
  explicit Asking(std::string path) : path_(std::move(path)) {}
  void OnStep(const StepProgress& progress) override { steps_.push_back(progress); }
  void OnEpoch(const EpochResult&) override {}
  void Steer(TrainingControl& control) override {
    if (steps_.size() == 2) control.ScaleRate(0);
    if (steps_.size() == 3) control.SaveWeights(path_);
    if (steps_.size() == 4) control.Stop();
  }
  const std::vector<StepProgress>& steps() const { return steps_; }

 private:
  std::string path_;
  std::vector<StepProgress> steps_;
};

TEST_CASE("an observer stops a training, changes the rate and has weights saved", "[evaluation]") {
  const TempDir directory;
  Model model = BuilderFor(RunOf("mlp")).Build();
  Asking asking(directory.File("w.safetensors"));
  const TrainingResult result = model.Train(&asking);
  CHECK(result.stopped_early);
  CHECK(result.steps == 4);
  CHECK(asking.steps()[1].learning_rate == 0.01);
  CHECK(asking.steps()[2].learning_rate == 0);
  CHECK(asking.steps()[0].live_bytes > 0);
  CHECK(asking.steps()[0].gradient_norm > 0);
  // Nothing was learned from the third step on, so that these are the last weights.
  Model saved = BuilderFor(RunOf("mlp")).Build();
  saved.LoadWeights(directory.File("w.safetensors"));
  CHECK(saved.WeightsHash() == model.WeightsHash());
}

TEST_CASE("values can be set", "[evaluation]") {
  Model model = BuilderFor(RunOf("mlp")).Build();
  const std::string path = model.parameters().back()->path;
  std::vector<double> values = model.Values(path);
  for (double& value : values) value = 0.5;
  model.SetValues(path, values);
  CHECK(model.Values(path) == values);
  values.push_back(1);
  CHECK_THROWS_WITH(model.SetValues(path, values), Contains(path + " has 5 values; 6 were given"));
}

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_CASE("a training is logged as it goes", "[evaluation]") {
  const TempDir directory;
  for (const std::string name : {"log.csv", "log.jsonl"}) {
    const SmallRun run = RunOf("mlp");
    AiModelBuilder builder =
        With(run, {"training.metrics=[\"f1\"]", "output.log=" + directory.File(name)});
    const DataLayout layout = LayoutFor(run.network);
    RunTraining(builder.Plan(), {.quiet = true}, SyntheticSources(layout));
    const std::string text = ReadText(directory.File(name));
    CHECK(std::ranges::count(text, '\n') == (name == "log.csv" ? 1 : 0) + 6 + 1);
    CHECK_THAT(text, Contains("f1") && Contains("evaluation") && Contains("learning_rate"));
  }
}

TEST_CASE("what evaluations cannot do is refused before anything runs", "[evaluation]") {
  const auto refusal = [](const std::vector<std::string>& values) {
    return RefusalOf([&] { With(RunOf("mlp"), values).Plan(); });
  };
  CHECK_THAT(refusal({"training.metrics=[\"acuracy\"]"}), Contains("acuracy"));
  CHECK_THAT(refusal({"training.metrics=[\"rmse\"]"}),
             Contains("rmse is of data with real targets"));
  CHECK_THAT(refusal({"training.metrics=[\"top_9\"]"}), Contains("at most the 5 classes; it is 9"));
  CHECK_THAT(refusal({"training.best_by=f1"}), Contains("add it to training.metrics"));
  CHECK_THAT(refusal({"training.patience=2", "training.evaluate=false"}),
             Contains("evaluations tell when to stop"));
}

}  // namespace
}  // namespace frugal::testing
