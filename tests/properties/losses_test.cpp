// Every loss keeps the promises: its plan is its run, memory policies change no bit, and a batch in
// parts gives what the whole does where samples count alike.
#include "sdk/core/random.h"
#include "tests/properties/device_meshes.h"
#include "tests/support/tensors.h"

namespace frugal::testing {
namespace {

// Samples of numbers, with labels, distributions, rows of labels, or nothing to compare with.
class LossData final : public DataSource {
 public:
  LossData(const DataLayout& layout, std::int64_t count) : layout_(layout), count_(count) {}

  std::int64_t count() const override { return count_; }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    FillNumbers(samples, 1, inputs);
    if (!targets) return;
    if (targets.dtype() != DType::kI64) return FillDistributions(samples, targets);
    const std::int64_t length = targets.size() / static_cast<std::int64_t>(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::int64_t j = 0; j < length; ++j) {
        std::int64_t& label = targets.values<std::int64_t>()[i * static_cast<std::size_t>(length) +
                                                             static_cast<std::size_t>(j)];
        // Rows end in padding after samples % 3 + 1 labels, none of which is the blank.
        label =
            length == 1 ? samples[i] % 5 : (j > samples[i] % 3 ? -100 : 1 + (samples[i] + j) % 4);
      }
    }
  }
  void FillWeights(std::span<const std::int64_t> samples, const Tensor& weights) const override {
    Set(weights, [&](std::int64_t i) {
      return 0.25 * static_cast<double>(samples[static_cast<std::size_t>(i)] % 7);
    });
  }

 private:
  template <class Number>
  static void Set(const Tensor& tensor, const Number& number) {
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      if (tensor.dtype() == DType::kF64) tensor.data<double>()[i] = number(i);
      if (tensor.dtype() == DType::kF32) tensor.data<float>()[i] = static_cast<float>(number(i));
    }
  }
  static void FillNumbers(std::span<const std::int64_t> samples, std::uint64_t stream,
                          const Tensor& tensor) {
    const std::int64_t size = tensor.size() / static_cast<std::int64_t>(samples.size());
    Set(tensor, [&](std::int64_t i) {
      const auto sample = static_cast<std::uint64_t>(samples[static_cast<std::size_t>(i / size)]);
      return UniformAt(sample + 1000 * stream, static_cast<std::uint64_t>(i % size)) - 0.5;
    });
  }
  // A larger share of one class.
  static void FillDistributions(std::span<const std::int64_t> samples, const Tensor& targets) {
    const std::int64_t size = targets.size() / static_cast<std::int64_t>(samples.size());
    Set(targets, [&](std::int64_t i) {
      return i % size == samples[static_cast<std::size_t>(i / size)] % 5 ? 0.6 : 0.1;
    });
  }

  DataLayout layout_;
  std::int64_t count_;
};

struct LossRun {
  std::string name;
  LossOptions loss;
  bool sample_weights = false;
};

std::vector<LossRun> LossRuns() {
  using enum LossKind;
  std::vector<LossRun> runs = {
      {"class weights", {.kind = kCrossEntropy, .class_weights = {1, 2, 0.5, 0, 3}}},
      {"smoothed",
       {.kind = kCrossEntropy, .label_smoothing = 0.1, .class_weights = {1, 2, 3, 1, 1}}},
      {"focal", {.kind = kFocal, .gamma = 1.5, .alpha = 0.5}},
      {"focal of classes", {.kind = kFocal, .class_weights = {1, 2, 3, 1, 1}}},
      {"hinge", {.kind = kHinge, .margin = 0.7}},
      {"kl_divergence", {.kind = kKlDivergence}},
      {"cosine", {.kind = kCosine}},
      {"triplet", {.kind = kTriplet, .margin = 0.5}},
      {"ctc", {.kind = kCtc}},
  };
  for (const LossKind kind : {kCrossEntropy, kMse, kHuber, kBceWithLogits}) {
    runs.push_back({std::string(NameOf(kind)) + ", weighted", {.kind = kind}, true});
  }
  for (LossRun run : std::vector<LossRun>(runs)) {
    if (run.sample_weights || run.name == "smoothed") continue;
    run.name += ", weighted";
    run.sample_weights = true;
    runs.push_back(run);
  }
  return runs;
}

DataLayout LayoutOf(const LossRun& run) {
  DataLayout layout{.sample_shape = {6}, .target_shape = {}, .train_count = 32, .test_count = 9};
  layout.sample_weights = run.sample_weights;
  switch (TargetsOf(run.loss.kind)) {
    case LossTargets::kLabels:
      layout.classes = 5;
      break;
    case LossTargets::kValues:
      layout.target_shape = {5};
      break;
    case LossTargets::kNothing:
      break;
  }
  if (run.loss.kind == LossKind::kTriplet) layout.sample_shape = {3, 6};
  if (run.loss.kind == LossKind::kCtc) {
    layout.sample_shape = {7, 6};
    layout.label_shape = {3};
  }
  return layout;
}

AiModelBuilder BuilderFor(const LossRun& run, const SmallRun& small) {
  AiModelBuilder builder = testing::BuilderFor(small);
  const DataLayout layout = LayoutOf(run);
  builder.Data(layout, {std::make_shared<LossData>(layout, layout.train_count),
                        std::make_shared<LossData>(layout, layout.test_count)});
  builder.Loss(run.loss).Layers([](LayerList& l) {
    l.Dense({.units = 16, .activation = Activation::kTanh}).LayerNorm().Dense({.units = 5});
  });
  return builder;
}

Trained TrainWith(const LossRun& run, const SmallRun& small) {
  Model model = BuilderFor(run, small).Build();
  return Train(model);
}

struct Kind {
  BackendKind backend;
  Precision precision;
};

TEST_CASE("every loss trains exactly its plan, and no policy changes a bit") {
  for (const LossRun& run : LossRuns()) {
    for (const Kind& kind :
         {Kind{BackendKind::kOneDnn, Precision::kF32}, Kind{BackendKind::kOneDnn, Precision::kBF16},
          Kind{BackendKind::kEigen, Precision::kF64}}) {
      INFO(run.name << " on " << NameOf(kind.backend));
      SmallRun small = {.memory = {}, .backend = kind.backend, .precision = kind.precision};
      const Trained plain = TrainWith(run, small);
      CheckPlanIsRun(plain.plan, plain.result, true);
      CHECK(plain.result.losses.front() != plain.result.losses.back());
      for (const auto& memory :
           {TrainingMemoryConfig::MemoryEfficient(), TrainingMemoryConfig::FastConstruction()}) {
        small.memory = memory;
        const Trained other = TrainWith(run, small);
        CheckPlanIsRun(other.plan, other.result, memory.use_activation_pooling);
        CheckSame(plain, other);
      }
    }
  }
}

TEST_CASE("every loss falls") {
  for (const LossRun& run : LossRuns()) {
    INFO(run.name);
    SmallRun small = {.memory = {}, .max_steps = 100, .epochs = 25};
    small.optimizer = {.kind = OptimizerKind::kAdam, .lr = 0.01};
    const Trained trained = TrainWith(run, small);
    // The entropy of smoothed labels and of distributions stays.
    CHECK(trained.result.losses.back() < 0.9 * trained.result.losses.front());
    CHECK(trained.result.test_loss.has_value());
    const bool votes = LayoutOf(run).classes > 0 && run.loss.kind != LossKind::kCtc;
    CHECK(trained.result.test_accuracy.has_value() == votes);
  }
}

TEST_CASE("parts of a batch give the loss of the whole where samples count alike") {
  for (const LossRun& run : LossRuns()) {
    INFO(run.name);
    SmallRun small = {
        .memory = {}, .batch = 7, .backend = BackendKind::kEigen, .precision = Precision::kF64};
    small.optimizer = {.kind = OptimizerKind::kSgd, .lr = 0.1};
    small.accumulate = 3;
    if (!run.loss.class_weights.empty()) {
      CHECK_THROWS_WITH(BuilderFor(run, small).Plan(),
                        Catch::Contains("weighs labels (class_weights), of which parts "
                                        "may have different numbers"));
      continue;
    }
    const Trained parts = TrainWith(run, small);
    small.accumulate = 1;
    const Trained whole = TrainWith(run, small);
    CHECK(RelativeError(parts.result.losses, whole.result.losses) < 1e-12);
    for (std::size_t i = 0; i < whole.values.size(); ++i) {
      CHECK(MaxError(parts.values[i], whole.values[i]) < 1e-10);
    }
  }
}

TEST_CASE("weights of samples reach every output") {
  const LossRun run = {"two outputs", {.kind = LossKind::kFocal}, true};
  const auto builder = [&](const SmallRun& small) {
    AiModelBuilder made = BuilderFor(run, small);
    made.Layers([](LayerList& l) {
      l.Dense({.units = 16, .activation = Activation::kTanh});
      l.Output("aside", {.loss = {.kind = LossKind::kHinge}, .weight = 0.5},
               [](LayerList& o) { o.Dense({.units = 5}); });
      l.Dense({.units = 5});
    });
    return made;
  };
  SmallRun small = {.memory = {}, .backend = BackendKind::kEigen, .precision = Precision::kF64};
  small.optimizer = {.kind = OptimizerKind::kSgd, .lr = 0.1};
  Model whole = builder(small).Build();
  const Trained plain = Train(whole);
  CheckPlanIsRun(plain.plan, plain.result, true);
  small.accumulate = 4;
  Model model = builder(small).Build();
  CHECK(RelativeError(Train(model).result.losses, plain.result.losses) < 1e-12);
}

TEST_CASE("devices compute what one does, weights of samples too") {
  for (const LossRun& run : LossRuns()) {
    if (!run.loss.class_weights.empty()) continue;
    INFO(run.name);
    SmallRun small = RunOf("mlp");
    const Mesh one = {.micro_batches = 2};
    const Mesh two = {.devices = 2, .micro_batches = 2, .pipelined = true};
    const Trained alone = TrainWith(run, On(one, small));
    Model model = BuilderFor(run, On(two, small)).Build();
    const Trained together = Train(model);
    CheckDevices(model, together.result);
    CHECK(alone.result.losses == together.result.losses);
    CHECK(alone.result.weights_hash == together.result.weights_hash);
  }
}

}  // namespace
}  // namespace frugal::testing
