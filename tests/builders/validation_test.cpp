// A validation part beside the test part, steps on given values, and trainings that go on.
#include "tests/support/compare_trained.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

DataLayout LayoutWithValidation() {
  DataLayout layout = SyntheticLayout(48, 20);
  layout.validation_count = 12;
  return layout;
}

DataSources SourcesWithValidation() {
  DataSources sources = SyntheticSources(SyntheticLayout(48, 20));
  sources.validation = SyntheticSources(SyntheticLayout(12, 1)).train;
  return sources;
}

AiModelBuilder ValidatedBuilder(const TrainingMemoryConfig& memory = {}) {
  SmallRun run{.memory = memory, .max_steps = 6, .threads = 1};
  return BuilderFor(run).Data(LayoutWithValidation(), SourcesWithValidation());
}

TEST_CASE("evaluations look at the validation part, and at the test part once behind them") {
  Model model = ValidatedBuilder().Build();
  CHECK(model.schedule().validation_samples == 12);
  const TrainingResult result = model.Train();
  REQUIRE(!result.evaluations.empty());
  for (const Evaluation& evaluation : result.evaluations) {
    CHECK(evaluation.part == DatasetPart::kValidation);
    CHECK(evaluation.result.samples == 12);
  }
  CHECK(result.epochs.back().is_validation);
  REQUIRE(result.test);
  CHECK(result.test->samples == 20);
  CHECK(result.test_loss == model.Evaluate().loss);
  CHECK(result.evaluations.back().result.loss == model.Evaluate(DatasetPart::kValidation).loss);
  CHECK_THROWS_AS(model.Evaluate(DatasetPart::kTrain), UsageError);
}

TEST_CASE("a validation part leaves the plan the run, on devices too") {
  const Trained expected = Train(*std::make_unique<Model>(ValidatedBuilder().Build()));
  CheckPlanIsRun(expected.plan, expected.result, false);
  TrainingMemoryConfig two;
  two.num_devices = 2;
  const Trained sharded = Train(*std::make_unique<Model>(ValidatedBuilder(two).Build()));
  CheckSame(expected, sharded);
  REQUIRE(sharded.result.evaluations.size() == expected.result.evaluations.size());
  CHECK(sharded.result.evaluations.back().result.loss ==
        expected.result.evaluations.back().result.loss);
}

TEST_CASE("a fraction of the training samples is held out") {
  SmallRun run{.memory = {}, .max_steps = 100, .threads = 1};
  const auto build = [&](double fraction, std::int64_t samples) {
    const DataLayout layout = SyntheticLayout(samples, 20);
    return BuilderFor(run)
        .Data(DataOptions{.validation_fraction = fraction})
        .Data(layout, SyntheticSources(layout))
        .Build();
  };
  Model held_out = build(0.25, 64), fewer = build(0, 48);
  CHECK(held_out.schedule().train_samples == 48);
  CHECK(held_out.schedule().validation_samples == 16);
  const TrainingResult result = held_out.Train();
  CHECK(result.losses == fewer.Train().losses);  // it never saw the others
  CHECK(result.evaluations.back().result.samples == 16);
  CHECK(result.evaluations.back().result.loss != *result.test_loss);
}

TEST_CASE("a validation part that is empty, or there twice, is refused") {
  const DataLayout layout = SyntheticLayout();
  AiModelBuilder few = BuilderFor({}).Data(DataOptions{.validation_fraction = 0.01});
  few.Data(layout, SyntheticSources(layout));
  CHECK_THAT(RefusalOf([&] { few.Plan(); }), Contains("the share that is held out has a sample"));
  AiModelBuilder both = BuilderFor({}).Data(DataOptions{.validation_fraction = 0.2});
  both.Data(LayoutWithValidation(), SourcesWithValidation());
  CHECK_THAT(RefusalOf([&] { both.Plan(); }), Contains("the data have one validation part"));
}

TEST_CASE("values of samples that have weights are refused") {
  DataLayout layout = SyntheticLayout();
  layout.sample_weights = true;
  Model model = BuilderFor({}).Data(layout, SyntheticSources(layout)).Build();
  const std::vector<float> images(128);
  const std::vector<std::int64_t> labels = {1};
  CHECK_THAT(RefusalOf([&] {
               model.TrainStep(std::vector<InputValues>{images}, std::vector<InputValues>{labels},
                               1);
             }),
             Contains("call TrainStep with numbers of samples"));
}

TEST_CASE("a part that is asked for and not there is named") {
  Model model = BuilderFor({}).Build();
  CHECK_THAT(RefusalOf([&] { model.Evaluate(DatasetPart::kValidation); }),
             Contains("no validation part") && Contains("data.validation_fraction"));
  const DataLayout layout = SyntheticLayout();
  Model without = BuilderFor({}).Data(layout, DataSources()).Build();
  CHECK_THAT(RefusalOf([&] { without.Train(); }),
             Contains("no training part") && Contains("give a training source"));
}

struct GivenBatch {
  std::vector<float> images;
  std::vector<std::int64_t> labels;
};

// Samples of the synthetic data as the program might hold them.
GivenBatch BatchOf(std::span<const std::int64_t> samples) {
  const DataLayout layout = SyntheticLayout();
  HeapAllocator heap;
  const Tensor images(heap, layout.BatchShape(std::ssize(samples)), DType::kF32, MemoryTag::kData);
  const Tensor labels(heap, {std::ssize(samples)}, DType::kI64, MemoryTag::kData);
  SyntheticSources(layout).train->Fill(samples, images, labels);
  const auto values = images.values<float>();
  const auto numbers = labels.values<std::int64_t>();
  return {{values.begin(), values.end()}, {numbers.begin(), numbers.end()}};
}

TEST_CASE("a step on given values is the step on the same samples") {
  const std::vector<std::int64_t> samples = {5, 9, 2, 40};
  const GivenBatch batch = BatchOf(samples);
  const std::vector<InputValues> inputs = {std::span<const float>(batch.images)};
  const std::vector<InputValues> targets = {std::span<const std::int64_t>(batch.labels)};
  for (const std::int64_t devices : {1, 2}) {
    for (const std::int64_t parts : {1, 2}) {
      SmallRun run{.memory = {}, .batch = 4, .accumulate = parts, .threads = 1};
      run.memory.num_devices = devices;
      Model by_number = BuilderFor(run).Build(), by_value = BuilderFor(run).Build();
      for (int step = 0; step < 2; ++step) {
        CHECK(by_value.TrainStep(inputs, targets, 4).loss == by_number.TrainStep(samples).loss);
      }
      CHECK(by_value.WeightsHash() == by_number.WeightsHash());
    }
  }
}

TEST_CASE("given values that do not fit are refused") {
  Model model = BuilderFor({.memory = {}, .batch = 4}).Build();
  GivenBatch batch = BatchOf(std::vector<std::int64_t>{1, 2});
  const auto refusal = [&](std::int64_t count) {
    const std::vector<InputValues> inputs = {std::span<const float>(batch.images)};
    const std::vector<InputValues> targets = {std::span<const std::int64_t>(batch.labels)};
    return RefusalOf([&] { model.TrainStep(inputs, targets, count); });
  };
  CHECK(refusal(2).empty());
  CHECK_THAT(refusal(3), Contains("input 'x' holds [3, 8, 8, 2] values; 256 values"));
  batch.labels[1] = 5;
  CHECK_THAT(refusal(2), Contains("input 'targets' is in [0, 5); 5 was given"));
  batch.labels.pop_back();
  CHECK_THAT(refusal(2), Contains("'targets' holds [2] integers; 1 integers"));
  CHECK_THAT(RefusalOf([&] { model.TrainStep({}, {}, 2); }), Contains("takes 1 inputs"));
}

TEST_CASE("a second training goes on where the first one ended") {
  SmallRun run{.memory = {}, .max_steps = 8, .threads = 1};
  Model once = BuilderFor(run).Build();
  const TrainingResult first = once.Train();
  const TrainingResult second = once.Train();
  CHECK(second.epochs.front().epoch == first.epochs.back().epoch + 1);
  CHECK(second.losses.size() == first.losses.size());
  CHECK(second.losses.front() != first.losses.front());
  CHECK(second.weights_hash != first.weights_hash);
  CHECK(second.memory.peak_bytes == once.plan().peak_bytes);

  // Without a schedule it is one training of twice the epochs.
  run.max_steps = 16;
  run.epochs = 2;
  Model whole = BuilderFor(run).Build();
  const TrainingResult both = whole.Train();
  std::vector<double> losses = first.losses;
  losses.insert(losses.end(), second.losses.begin(), second.losses.end());
  CHECK(losses == both.losses);
  CHECK(second.weights_hash == both.weights_hash);
}

TEST_CASE("the schedule of a second training begins anew") {
  struct Rates : TrainingObserver {
    void OnStep(const StepProgress& progress) override { rates.push_back(progress.learning_rate); }
    void OnEpoch(const EpochResult&) override {}
    std::vector<double> rates;
  };
  SmallRun run{.memory = {}, .max_steps = 4, .threads = 1};
  Model model = BuilderFor(run).Schedule({.kind = ScheduleKind::kLinear}).Build();
  Rates first, second;
  model.Train(&first);
  model.Train(&second);
  CHECK(first.rates.front() > first.rates.back());
  CHECK(first.rates == second.rates);
}

TEST_CASE("weights are copied from model to model, by their paths") {
  const auto build = [](std::int64_t seed, const std::string& head, std::int64_t width) {
    return BuilderFor({})
        .Training({.batch_size = 8, .max_steps = 2, .seed = seed, .threads = 1})
        .Layers([&](LayerList& l) {
          l.Flatten().Dense({.units = width}, "body").Dense({.units = 5}, head);
        })
        .Build();
  };
  Model trained = build(1, "head", 6), same = build(2, "head", 6), other = build(3, "top", 6);
  trained.Train();
  CHECK(same.CopyWeights(trained) == 4);
  CHECK(same.WeightsHash() == trained.WeightsHash());
  const std::vector<double> head = other.Values("top.weight");
  CHECK(other.CopyWeights(trained) == 2);
  CHECK(other.Values("body.weight") == trained.Values("body.weight"));
  CHECK(other.Values("top.weight") == head);
  Model wide = build(4, "head", 7);
  CHECK_THAT(RefusalOf([&] { wide.CopyWeights(trained); }),
             Contains("body.weight is [7, 128]; the other model has it as [6, 128]"));
  Model stranger =
      BuilderFor({}).Layers([](LayerList& l) { l.Flatten().Dense({.units = 5}, "z"); }).Build();
  CHECK_THAT(RefusalOf([&] { stranger.CopyWeights(trained); }), Contains("none in common"));
}

}  // namespace
}  // namespace frugal::testing
