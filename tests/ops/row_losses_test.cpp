// Losses beside cross entropy and regression: gradients by differences, every environment, and what
// is refused. Their numbers against PyTorch's are in tests/oracles/loss_ops.
#include "sdk/ops/losses/row_losses.h"

#include "sdk/core/error.h"
#include "sdk/ops/losses/ctc_loss.h"
#include "sdk/ops/losses/weighted_cross_entropy.h"
#include "tests/ops/operation_run.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

Tensor Labels(const Shape& shape, const std::vector<int>& values) {
  return MakeTensor<int>(shape, values, DType::kI64);
}

// A distribution in each row.
Tensor Distributions(const Shape& shape, std::uint64_t seed, DType dtype) {
  std::vector<double> values = Values(Numbers(shape, seed, 0.1, 1));
  const auto columns = static_cast<std::size_t>(shape.back());
  for (std::size_t row = 0; row < values.size(); row += columns) {
    double sum = 0;
    for (std::size_t j = 0; j < columns; ++j) sum += values[row + j];
    for (std::size_t j = 0; j < columns; ++j) values[row + j] /= sum;
  }
  return MakeTensor(shape, values, dtype);
}

struct LossCase {
  std::string name;
  Shape x;
  // Makes the loss; constants are in the type of losses.
  std::function<Var(Context&, const Var&)> loss;
};

std::vector<LossCase> LossCases() {
  const Tensor labels = Labels({4}, {1, 0, 4, 2});
  const Tensor padded = Labels({3, 3}, {1, 2, 2, 3, -100, -100, 4, 4, -100});
  static const std::vector<double> weights = {0.5, 2, 1, 0, 1.5};
  const auto type = [](Context& c) { return c.master_dtype(); };
  const auto of_samples = [=](Context& c, std::int64_t n) {
    return RandomTensor({n}, 77, type(c), 0.2, 2);
  };
  std::vector<LossCase> cases = {
      {"class weights",
       {4, 5},
       [=](Context& c, const Var& x) {
         return CrossEntropyOf(c, x, labels, {.class_weights = weights});
       }},
      {"smoothed class weights",
       {4, 5},
       [=](Context& c, const Var& x) {
         return CrossEntropyOf(
             c, x, labels, {.label_smoothing = 0.2, .ignore_index = 4, .class_weights = weights});
       }},
      {"sample weights",
       {2, 2, 5},
       [=](Context& c, const Var& x) {
         return CrossEntropyOf(c, x, labels.Reshape({2, 2}), {.sample_weights = of_samples(c, 2)});
       }},
      {"focal",
       {4, 5},
       [=](Context& c, const Var& x) {
         return CrossEntropyOf(c, x, labels, {.focusing = 1.7, .class_weights = weights});
       }},
      {"hinge", {4, 5}, [=](Context& c, const Var& x) { return HingeLoss(c, x, labels, 0.8); }},
      {"kl",
       {2, 3, 5},
       [=](Context& c, const Var& x) {
         return KlDivergence(c, x, Distributions({2, 3, 5}, 5, type(c)), of_samples(c, 2));
       }},
      {"cosine",
       {4, 5},
       [=](Context& c, const Var& x) {
         return CosineLoss(c, x, RandomTensor({4, 5}, 6, type(c)), of_samples(c, 4));
       }},
      {"triplet", {4, 3, 5}, [=](Context& c, const Var& x) { return TripletLoss(c, x, 0.9); }},
      {"ctc", {3, 6, 5}, [=](Context& c, const Var& x) { return CtcLoss(c, x, padded); }},
      {"weighted ctc",
       {3, 6, 5},
       [=](Context& c, const Var& x) {
         return CtcLoss(c, x, padded, {.sample_weights = of_samples(c, 3)});
       }},
  };
  for (const Regression kind :
       {Regression::kMse, Regression::kL1, Regression::kHuber, Regression::kBceWithLogits}) {
    cases.push_back({"weighted regression", {4, 2, 3}, [=](Context& c, const Var& x) {
                       return WeightedRegressionLoss(c, x,
                                                     RandomTensor({4, 2, 3}, 9, type(c), 0, 1),
                                                     kind, 0.4, of_samples(c, 4));
                     }});
  }
  return cases;
}

TEST_CASE("gradients of losses by rows agree with differences", "[ops][gradients]") {
  for (const LossCase& one : LossCases()) {
    INFO(one.name);
    GradientModel model;
    model.Check([&](Context& c, const std::vector<Var>& x) { return one.loss(c, x[0]); },
                {Numbers(one.x, 17, -2, 2)});
  }
}

TEST_CASE("losses by rows are alike in every environment", "[ops]") {
  for (const LossCase& one : LossCases()) {
    INFO(one.name);
    CheckInEveryEnvironment(
        [&](Context& c, const std::vector<Var>& x) { return one.loss(c, x[0]); }, {one.x});
  }
}

double LossAt(const std::function<Var(Context&, const Var&)>& loss, const Tensor& x) {
  TestEnvironment environment(kReferenceF64);
  return Value(loss(environment.context(), {x}).value);
}

TEST_CASE("without weights, weighted losses are the plain ones", "[ops]") {
  const Tensor x = Numbers({4, 5}, 3, -3, 3);
  const Tensor labels = Labels({4}, {1, 0, 4, 2});
  const Tensor ones = Full({4}, 1, DType::kF64);
  const std::vector<double> equal(5, 3.0);
  const double plain =
      LossAt([&](Context& c, const Var& v) { return CrossEntropyOf(c, v, labels, {}); }, x);
  const auto weighted = [&](Context& c, const Var& v) {
    return CrossEntropyOf(c, v, labels, {.class_weights = equal, .sample_weights = ones});
  };
  CHECK(LossAt(weighted, x) == Approx(plain).epsilon(1e-12));
  // A sample of weight 0 is not there, but still counts in the number of samples.
  const Tensor half = MakeTensor<double>({4}, {0, 2, 0, 2}, DType::kF64);
  const auto some = [&](Context& c, const Var& v) {
    return CrossEntropyOf(c, v, labels, {.sample_weights = half});
  };
  const auto rows = [&](std::int64_t row) {
    return LossAt(
        [&](Context& c, const Var& v) { return CrossEntropyOf(c, v, labels.Narrow(row, 1), {}); },
        x.Narrow(row, 1));
  };
  CHECK(LossAt(some, x) == Approx((rows(1) + rows(3)) / 2));
}

TEST_CASE("labels that none of the classes has are named", "[ops]") {
  TestEnvironment environment(kReferenceF64);
  Context& c = environment.context();
  const Var x = {Numbers({2, 5}, 1)};
  const Tensor wrong = Labels({2}, {1, 5});
  const std::string given = "label 5 in row 1";
  CHECK(RefusalOf([&] { HingeLoss(c, x, wrong); }).find(given) != std::string::npos);
  CHECK(RefusalOf([&] { CrossEntropyOf(c, x, wrong, {.focusing = 2}); }).find(given) !=
        std::string::npos);
}

TEST_CASE("a ctc that cannot be is a sentence", "[ops]") {
  TestEnvironment environment(kReferenceF64);
  Context& c = environment.context();
  const Var x = {Numbers({2, 3, 5}, 1)};
  const auto refusal = [&](const std::vector<int>& labels, const CtcOptions& options = {}) {
    return RefusalOf([&] { CtcLoss(c, x, Labels({2, 3}, labels), options); });
  };
  CHECK(refusal({1, 2, 3, 4, 4, -100}).empty());
  CHECK(
      refusal({1, 2, 3, 4, 4, 4}) ==
      "[ctc] a step for each label, and one more between two that are alike; sample 1 of the "
      "batch has 3 labels, which take 5 steps, and the network makes 3; let the network make more "
      "steps, leave such samples out, or set zero_infinity = true");
  CHECK(refusal({1, 2, 3, 4, 4, 4}, {.zero_infinity = true}).empty());
  CHECK(refusal({1, 2, 3, 4, 0, -100}).find("sample 1 of the batch has label 0") !=
        std::string::npos);
  CHECK(refusal({1, -100, 3, 4, 4, -100}).find("label 3 behind it") != std::string::npos);
  CHECK(refusal({1, 2, 7, 4, 4, -100}).find("has label 7") != std::string::npos);
  CHECK_THROWS_AS(CtcLoss(c, x, Labels({6}, {1, 2, 3, 4, 1, 2})), UsageError);
  CHECK_THROWS_AS(CtcLoss(c, x, Labels({2, 3}, {1, 2, 3, 1, 2, 3}), {.blank = 5}), ShapeError);
}

TEST_CASE("shapes and types that do not fit a loss are refused", "[ops]") {
  TestEnvironment environment(kReferenceF64);
  Context& c = environment.context();
  const Var x = {Numbers({4, 5}, 1)};
  const Tensor labels = Labels({4}, {1, 0, 4, 2});
  CHECK_THROWS_AS(TripletLoss(c, x), ShapeError);
  CHECK_THROWS_AS(CosineLoss(c, x, labels), UsageError);
  CHECK_THROWS_AS(CosineLoss(c, x, Numbers({4, 6}, 1)), ShapeError);
  CHECK_THROWS_AS(HingeLoss(c, x, Numbers({4}, 1)), UsageError);
  CHECK_THROWS_AS(HingeLoss(c, x, Labels({3}, {1, 0, 4})), ShapeError);
  const std::vector<double> three(3, 1.0);
  CHECK_THROWS_AS(CrossEntropyOf(c, x, labels, {.class_weights = three}), ShapeError);
  CHECK_THROWS_AS(HingeLoss(c, x, labels, 1, Numbers({3}, 1)), ShapeError);
}

}  // namespace
}  // namespace frugal::testing
