#include <cmath>

#include "sdk/backend/backend.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::Uninitialized;
using testing::Values;
using Options = LossKernels::CrossEntropyOptions;

TEST_CASE("eigen softmax and log softmax equal their formulas") {
  const auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const std::size_t width = GENERATE(1U, 5U, 37U);
  const Tensor x = RandomTensor({4, static_cast<std::int64_t>(width)}, 1, dtype, -5, 5);
  const Tensor y = Uninitialized(x.shape(), dtype);
  const auto xs = Values(x);
  std::vector<double> expected, logarithms;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += std::exp(xs[i / width * width + j]);
    expected.push_back(std::exp(xs[i]) / sum);
    logarithms.push_back(xs[i] - std::log(sum));
  }
  backend->loss().SoftmaxForward(x, false, y);
  CHECK(testing::MaxError(y, expected) < 1e-6);
  backend->loss().SoftmaxForward(x, true, y);
  CHECK(testing::MaxError(y, logarithms) < 2e-6);
  backend->loss().SoftmaxForward(x, false, x);  // in place
  CHECK(testing::MaxError(x, expected) < 1e-6);
}

TEST_CASE("eigen softmax of huge and masked values") {
  const auto backend = MakeEigenBackend();
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = MakeTensor<double>({2, 3}, {1e30, -1e30, 1e30, -infinity, 0, -infinity});
  const Tensor y = Uninitialized({2, 3});
  backend->loss().SoftmaxForward(x, false, y);
  CHECK(Values(y) == std::vector<double>{0.5, 0, 0.5, 0, 1, 0});
}

TEST_CASE("eigen softmax backward equals numeric derivatives") {
  const auto backend = MakeEigenBackend();
  const bool logarithm = GENERATE(true, false);
  const Tensor x = RandomTensor({3, 6}, 1, DType::kF64);
  const Tensor dy = RandomTensor({3, 6}, 2, DType::kF64);
  const Tensor y = Uninitialized({3, 6}, DType::kF64);
  const Tensor dx = Uninitialized({3, 6}, DType::kF64);
  const auto loss = [&] {
    backend->loss().SoftmaxForward(x, logarithm, y);
    return testing::Dot(y, dy);
  };
  loss();
  backend->loss().SoftmaxBackward(dy, y, logarithm, dx);
  CHECK(testing::RelativeError(dx, testing::NumericGradient(loss, x)) < 1e-8);
}

double NaiveCrossEntropy(const Tensor& logits, const Tensor& targets, const Options& options) {
  const auto width = static_cast<std::size_t>(logits.shape().back());
  const auto x = Values(logits);
  double loss = 0;
  double rows = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(targets.size()); ++row) {
    const std::int64_t label = targets.values<std::int64_t>()[row];
    if (label == options.ignore_index) continue;
    double sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += std::exp(x[row * width + j]);
    for (std::size_t j = 0; j < width; ++j) {
      const double even = options.label_smoothing / static_cast<double>(width);
      const double wanted =
          even + (static_cast<std::int64_t>(j) == label ? 1 - options.label_smoothing : 0);
      loss -= wanted * (x[row * width + j] - std::log(sum));
    }
    ++rows;
  }
  return loss / rows;
}

TEST_CASE("eigen cross entropy and its gradient") {
  const auto backend = MakeEigenBackend();
  const Options options = GENERATE(Options{}, Options{.label_smoothing = 0.2},
                                   Options{.label_smoothing = 0.1, .ignore_index = 3});
  const DType f64 = DType::kF64;
  const Tensor logits = RandomTensor({6, 5}, 1, f64, -3, 3);
  const Tensor targets = MakeTensor<int>({6}, {0, 4, 3, 3, 1, 2}, DType::kI64);
  const Tensor sums = Uninitialized({6}, f64);
  const Tensor loss = Uninitialized({1}, f64);
  const auto forward = [&] {
    backend->loss().CrossEntropyForward(logits, targets, options, sums, loss);
    return 2 * testing::Value(loss);
  };
  CHECK(forward() / 2 == Approx(NaiveCrossEntropy(logits, targets, options)).epsilon(1e-12));
  const auto numeric = testing::NumericGradient(forward, logits);
  forward();
  const Tensor dloss = testing::Full({1}, 2, f64);
  const Tensor gradient = Uninitialized({6, 5}, f64);
  backend->loss().CrossEntropyBackward(dloss, logits, targets, options, sums, gradient);
  CHECK(testing::RelativeError(gradient, numeric) < 1e-8);
  backend->loss().CrossEntropyBackward(dloss, logits, targets, options, sums, logits);
  CHECK(testing::SameBits(gradient, logits));
}

TEST_CASE("eigen cross entropy of large logits, and of nothing") {
  const auto backend = MakeEigenBackend();
  const Tensor logits = MakeTensor<double>({2, 2}, {1e4, -1e4, -1e4, 1e4});
  const Tensor sums = Uninitialized({2});
  const Tensor loss = Uninitialized({1});
  backend->loss().CrossEntropyForward(logits, MakeTensor<int>({2}, {0, 0}, DType::kI64), {}, sums,
                                      loss);
  CHECK(testing::Value(loss) == 1e4);
  const Tensor ignored = MakeTensor<int>({2}, {-100, -100}, DType::kI64);
  backend->loss().CrossEntropyForward(logits, ignored, {}, sums, loss);
  CHECK(testing::Value(loss) == 0);
  const Tensor gradient = Uninitialized({2, 2});
  backend->loss().CrossEntropyBackward(testing::Full({1}, 1), logits, ignored, {}, sums, gradient);
  CHECK(Values(gradient) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("eigen cross entropy names the first wrong label") {
  const auto backend = MakeEigenBackend();
  const Tensor logits = RandomTensor({3, 5}, 1);
  const Tensor sums = Uninitialized({3});
  const Tensor loss = Uninitialized({1});
  const int wrong = GENERATE(5, -1, -100000);
  const Tensor targets = MakeTensor<int>({3}, {-100, wrong, 77}, DType::kI64);
  const std::string message =
      "[cross entropy] every label from 0 to 4; label " + std::to_string(wrong) +
      " in row 1; correct the labels or give the model's last layer more outputs";
  CHECK_THROWS_WITH(backend->loss().CrossEntropyForward(logits, targets, {}, sums, loss), message);
  CHECK_THROWS_AS(backend->loss().CrossEntropyForward(logits, targets, {}, sums, loss), DataError);
  CHECK_THROWS_AS(backend->loss().CrossEntropyBackward(loss, logits, targets, {}, sums, logits),
                  DataError);
}

double NaiveRegression(Regression kind, double delta, double x, double t) {
  const double d = std::abs(x - t);
  switch (kind) {
    case Regression::kMse:
      return d * d;
    case Regression::kL1:
      return d;
    case Regression::kHuber:
      return d <= delta ? d * d / 2 : delta * (d - delta / 2);
    case Regression::kBceWithLogits:
      break;
  }
  const double p = 1 / (1 + std::exp(-x));
  return -t * std::log(p) - (1 - t) * std::log(1 - p);
}

TEST_CASE("eigen regression losses and their gradients") {
  const auto backend = MakeEigenBackend();
  const Regression kind =
      GENERATE(Regression::kMse, Regression::kL1, Regression::kHuber, Regression::kBceWithLogits);
  const DType f64 = DType::kF64;
  const Tensor x = RandomTensor({7, 3}, 1, f64, -2, 2);
  const Tensor target = RandomTensor({7, 3}, 2, f64, 0, 1);
  const Tensor loss = Uninitialized({1}, f64);
  const auto forward = [&] {
    backend->loss().RegressionForward(kind, 0.7, x, target, loss);
    return 3 * testing::Value(loss);
  };
  double expected = 0;
  for (std::size_t i = 0; i < 21; ++i) {
    expected += NaiveRegression(kind, 0.7, Values(x)[i], Values(target)[i]) / 21;
  }
  CHECK(forward() / 3 == Approx(expected).epsilon(1e-12));
  const Tensor dx = Uninitialized({7, 3}, f64);
  backend->loss().RegressionBackward(kind, 0.7, testing::Full({1}, 3, f64), x, target, dx);
  CHECK(testing::RelativeError(dx, testing::NumericGradient(forward, x)) < 1e-7);
  backend->loss().RegressionTargetBackward(kind, 0.7, testing::Full({1}, 3, f64), x, target, dx);
  CHECK(testing::RelativeError(dx, testing::NumericGradient(forward, target)) < 1e-7);
}

TEST_CASE("eigen regression losses at the edges") {
  const auto backend = MakeEigenBackend();
  const Tensor loss = Uninitialized({1});
  const Tensor x = MakeTensor<double>({2}, {1e4, -1e4});
  backend->loss().RegressionForward(Regression::kBceWithLogits, 1, x,
                                    MakeTensor<double>({2}, {0, 1}), loss);
  CHECK(testing::Value(loss) == 1e4);
  backend->loss().RegressionForward(Regression::kMse, 1, Uninitialized({0}), Uninitialized({0}),
                                    loss);
  CHECK(testing::Value(loss) == 0);
  const Tensor dx = Uninitialized({2});
  backend->loss().RegressionBackward(Regression::kL1, 1, testing::Full({1}, 1), x, x, dx);
  CHECK(Values(dx) == std::vector<double>{0, 0});
  backend->loss().RegressionTargetBackward(Regression::kL1, 1, testing::Full({1}, 1), x, x, dx);
  CHECK(Values(dx) == std::vector<double>{0, 0});
}

TEST_CASE("eigen counts the rows whose first largest value is at the target") {
  const auto backend = MakeEigenBackend();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = MakeTensor<double>(
      {6, 3}, {1, 2, 0, /**/ 5, 5, 1, /**/ 5, 5, 1, /**/ nan, 1, 0, /**/ 0, 0, 9, /**/ 1, 0, 0});
  const Tensor targets = MakeTensor<int>({6}, {1, 0, 1, 0, 2, 7}, DType::kI64);
  CHECK(backend->loss().CountCorrect(x, targets) == 3);
  const Tensor none = Uninitialized({0}, DType::kI64);
  CHECK(backend->loss().CountCorrect(Uninitialized({0, 3}), none) == 0);
}

}  // namespace
}  // namespace frugal
