#include "sdk/ops/vocabulary_loss.h"

#include <optional>

#include "sdk/core/error.h"
#include "sdk/ops/embedding.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/loss.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

// The chunked form against CrossEntropy(Linear(x)).
namespace frugal::testing {
namespace {

struct Case {
  std::vector<int> targets = {3, 0, 6, 2, 5, 1, 4};
  VocabularyLossOptions options{};
  bool with_bias = true;
  bool train_weight = true;
  bool train_bias = true;
  bool differentiate_x = true;
  bool tied = false;  // x are rows of the weight
};

struct Outcome {
  double loss = 0;
  std::int64_t correct = 0;
  Tensor dx, dweight, dbias;
};

constexpr std::int64_t kVocabulary = 7;
constexpr std::int64_t kFeatures = 5;

class Run {
 public:
  Run(const EnvironmentKind& kind, const Case& test) : test_(test), environment_(kind) {
    weight_.trainable = test.train_weight;
    bias_.trainable = test.train_bias;
    bias_.index = 1;
    for (const Parameter* parameter : {&weight_, &bias_}) {
      if (!parameter->trainable) continue;
      // The gradient starts as NaN, so that numbers that nobody writes show.
      const Tensor gradient = environment_.store().GradientFor(*parameter).tensor;
      std::memset(gradient.raw(), 0xff, static_cast<std::size_t>(gradient.bytes()));
    }
  }

  Outcome Plain() {
    return Pass([&](Context& context, const Var& x, const Tensor& targets, Outcome& outcome) {
      const Var logits = Linear(context, x, weight_, bias());
      outcome.correct = environment_.backend().loss().CountCorrect(logits.value, targets);
      return CrossEntropy(context, logits, targets,
                          {test_.options.label_smoothing, test_.options.ignore_index});
    });
  }
  Outcome Chunked() {
    return Pass([&](Context& context, const Var& x, const Tensor& targets, Outcome& outcome) {
      const VocabularyLoss loss =
          LinearCrossEntropy(context, x, weight_, bias(), targets, test_.options);
      outcome.correct = loss.correct;
      return loss.loss;
    });
  }
  void set_seed(double seed) { seed_ = seed; }

 private:
  const Parameter* bias() const { return test_.with_bias ? &bias_ : nullptr; }

  template <class Loss>
  Outcome Pass(const Loss& loss) {
    Context& context = environment_.context();
    environment_.store().ClearGradients();
    const auto count = static_cast<std::int64_t>(test_.targets.size());
    Tape tape;
    const TapeScope scope(context, &tape);
    Var x = {RandomTensor({1, count, kFeatures}, 3, environment_.dtype()), Var::kNoGradient};
    if (test_.tied) {
      x = Embedding(context, MakeTensor<int>({1, 7}, {0, 6, 1, 1, 5, 2, 0}, DType::kI64), weight_);
    } else if (test_.differentiate_x) {
      x.slot = tape.NewSlot();
    }
    Outcome outcome;
    const Tensor targets = MakeTensor({1, count}, test_.targets, DType::kI64);
    const Var result = loss(context, x, targets, outcome);
    outcome.loss = Value(result.value);
    if (result.needs_gradient()) {
      tape.Backward(context, result.slot,
                    Full({1}, seed_.value_or(test_.options.seed), environment_.dtype()));
    }
    if (x.needs_gradient() && !test_.tied) outcome.dx = CopyIfAny(tape.TakeGradient(x.slot));
    outcome.dweight = CopyIfAny(environment_.store().Gradient(weight_));
    outcome.dbias = CopyIfAny(environment_.store().Gradient(bias_));
    return outcome;
  }
  static Tensor CopyIfAny(const Tensor& tensor) { return tensor ? CopyOf(tensor) : Tensor(); }

  Case test_;
  TestEnvironment environment_;
  std::optional<double> seed_;
  Parameter weight_{.name = "weight",
                    .path = "weight",
                    .shape = {kVocabulary, kFeatures},
                    .initializer = Initializer::Uniform(-1, 1)};
  Parameter bias_{.name = "bias",
                  .path = "bias",
                  .shape = {kVocabulary},
                  .initializer = Initializer::Uniform(-1, 1)};
};

void CheckClose(const Tensor& actual, const Tensor& expected, double tolerance) {
  REQUIRE(static_cast<bool>(actual) == static_cast<bool>(expected));
  if (expected) CHECK(RelativeError(actual, expected) < tolerance);
}

void CheckEqualToPlain(const Case& test) {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind << ", chunks of " << test.options.chunk_rows);
    const double tolerance = kind.dtype == DType::kF64 ? 1e-13 : 2e-6;
    const Outcome expected = Run(kind, test).Plain();
    const Outcome actual = Run(kind, test).Chunked();
    CHECK(actual.loss == Approx(expected.loss).epsilon(tolerance).margin(tolerance));
    CHECK(actual.correct == expected.correct);
    CheckClose(actual.dx, expected.dx, tolerance);
    CheckClose(actual.dweight, expected.dweight, tolerance);
    CheckClose(actual.dbias, expected.dbias, tolerance);
  }
}

void CheckForAllChunks(Case test) {
  for (const std::int64_t rows : {1, 2, 3, 7, 100, 0}) {
    test.options.chunk_rows = rows;
    CheckEqualToPlain(test);
  }
}

TEST_CASE("the chunked loss is the plain one, in all its gradients", "[ops][vocabulary]") {
  CheckForAllChunks({});
  CheckForAllChunks({.with_bias = false});
  CheckForAllChunks({.options = {.label_smoothing = 0.1}});
  CheckForAllChunks({.targets = {6}});
}

TEST_CASE("ignored targets count for nothing, chunk by chunk", "[ops][vocabulary]") {
  CheckForAllChunks({.targets = {3, -100, 6, -100, -100, -100, 4}});
  CheckForAllChunks({.targets = {-100, -100, -100, 1, 2, -100, -100}});
  CheckForAllChunks(
      {.targets = {2, 0, 2, 2, 5, 1, 2}, .options = {.label_smoothing = 0.2, .ignore_index = 2}});
}

TEST_CASE("where all targets are ignored, the loss and its gradients are zero",
          "[ops][vocabulary]") {
  const Case all{.targets = {-100, -100, -100, -100, -100}};
  CheckForAllChunks(all);
  Run run(kReferenceF64, all);
  const Outcome outcome = run.Chunked();
  CHECK(outcome.loss == 0);
  CHECK(Values(outcome.dweight) == std::vector<double>(35, 0));
  CHECK(Values(outcome.dx) == std::vector<double>(25, 0));
}

TEST_CASE("no rows at all", "[ops][vocabulary]") { CheckForAllChunks({.targets = {}}); }

TEST_CASE("the loss trains what is not frozen", "[ops][vocabulary]") {
  CheckForAllChunks({.train_weight = false});
  CheckForAllChunks({.train_bias = false});
  CheckForAllChunks({.train_weight = false, .train_bias = false});
  CheckForAllChunks({.differentiate_x = false});
  CheckForAllChunks({.with_bias = false, .train_weight = false});
  CheckForAllChunks({.train_weight = false, .train_bias = false, .differentiate_x = false});
}

TEST_CASE("a table that is embedding and projection gets both gradients", "[ops][vocabulary]") {
  CheckForAllChunks({.tied = true});
  CheckForAllChunks({.with_bias = false, .tied = true});
}

TEST_CASE("backward is seeded with what was announced", "[ops][vocabulary]") {
  CheckForAllChunks({.options = {.seed = 0.25}});
  CheckForAllChunks({.options = {.label_smoothing = 0.1, .seed = -3}});
  for (const EnvironmentKind& kind : AllEnvironments()) {
    Run run(kind, {.options = {.seed = 0.25}});
    run.set_seed(0.5);
    CHECK_THROWS_AS(run.Chunked(), UsageError);
    CHECK_THROWS_WITH(run.Chunked(),
                      "[LinearCrossEntropy] backward is seeded with 0.250000; 0.500000; say the "
                      "seed in VocabularyLossOptions::seed");
  }
}

TEST_CASE("wrong shapes and classes are refused", "[ops][vocabulary][errors]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    Context& context = environment.context();
    const LabelScope label(context, "loss");
    const Parameter weight{.name = "w", .path = "w", .shape = {7, 5}, .initializer = {}};
    const auto loss = [&](const Shape& x, const Tensor& targets) {
      return LinearCrossEntropy(context, {RandomTensor(x, 1, kind.dtype)}, weight, nullptr,
                                targets);
    };
    const Tensor two = MakeTensor<int>({2}, {1, 2}, DType::kI64);
    CHECK_THROWS_WITH(loss({2, 4}, two),
                      "[loss] the projection takes 5 features; the input is [2, 4]; let the "
                      "network end in that many features");
    CHECK_THROWS_WITH(loss({3, 5}, two),
                      "[loss] there is a class number (i64) for each of the 2 targets; the input "
                      "is [3, 5]; give one label per position");
    CHECK_THROWS_AS(loss({2, 5}, Full({2}, 1, kind.dtype)), ShapeError);
    CHECK_THROWS_AS(loss({}, two), ShapeError);
    CHECK_THROWS_AS(loss({2, 5}, MakeTensor<int>({2}, {1, 7}, DType::kI64)), DataError);
    CHECK_THROWS_AS(loss({2, 5}, MakeTensor<int>({2}, {-1, 2}, DType::kI64)), DataError);
    CHECK(environment.ledger().live()[MemoryTag::kActivation] == 0);
  }
}

// A pass over `rows` positions; what it took at most.
std::int64_t PeakOf(EnvironmentKind kind, std::int64_t rows, std::int64_t vocabulary, bool train) {
  TestEnvironment environment(kind);
  Context& context = environment.context();
  const Parameter weight{
      .name = "w", .path = "w", .shape = {vocabulary, 8}, .initializer = Initializer::Normal(0, 1)};
  Tape tape;
  const TapeScope scope(context, train ? &tape : nullptr);
  const Tensor targets = Full({rows}, 0, DType::kI64);
  const Var x = {RandomTensor({rows, 8}, 1, kind.dtype), train ? tape.NewSlot() : -1};
  const VocabularyLoss loss = LinearCrossEntropy(context, x, weight, nullptr, targets);
  if (train) tape.Backward(context, loss.loss.slot, Full({1}, 1, kind.dtype));
  return environment.ledger().peak_total();
}

TEST_CASE("the logits are never there as a whole", "[ops][vocabulary][memory]") {
  for (const BackendKind backend : {BackendKind::kEigen, BackendKind::kOneDnn}) {
    for (const bool train : {false, true}) {
      const EnvironmentKind dry{backend, DType::kF32, true};
      constexpr std::int64_t kRows = 2048;
      constexpr std::int64_t kTokens = 50257;
      const std::int64_t logits = kRows * kTokens * 4;
      CHECK(PeakOf(dry, kRows, kTokens, train) < logits / 4);
      // Twice the rows add their own gradients to it, and no logits.
      const std::int64_t more = PeakOf(dry, 2 * kRows, kTokens, train);
      CHECK(more - PeakOf(dry, kRows, kTokens, train) < kRows * 8 * 4 + 4096);
      CHECK(PeakOf({backend, DType::kF32, false}, 33, 100, train) ==
            PeakOf({backend, DType::kF32, true}, 33, 100, train));
    }
  }
}

TEST_CASE("chunks have as many rows as give 8 million logits, or as pay", "[ops][vocabulary]") {
  CHECK(ChunkRows(0, 10, DType::kF32) == 1);
  CHECK(ChunkRows(1, 10, DType::kF32) == 1);
  CHECK(ChunkRows(9, 1, DType::kF32) == 9);
  CHECK(ChunkRows(2000, 256, DType::kF32) == 500);
  CHECK(ChunkRows(1 << 20, 256, DType::kF32) == 32768);
  CHECK(ChunkRows(8192, 50257, DType::kF32) == 256);
  CHECK(ChunkRows(8192, 2147483647, DType::kF32) == 256);
  CHECK(ChunkRows(400, 50257, DType::kF32) == 256);
  CHECK(ChunkRows(8192, 50257, DType::kBF16) == 512);
  CHECK(ChunkRows(400, 50257, DType::kBF16) == 400);
}

}  // namespace
}  // namespace frugal::testing
