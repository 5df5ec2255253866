#include "sdk/core/error.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

Tensor RandomLabels(std::int64_t rows, std::int64_t classes, Dice& dice) {
  Tensor labels = Uninitialized({rows}, DType::kI64);
  for (std::int64_t& label : labels.values<std::int64_t>()) {
    label = dice.Between(0, 7) == 0 ? -100 : dice.Between(0, classes - 1);
  }
  return labels;
}

struct Results {
  Tensor loss, log_sum_exp, gradient;
};

Results Run(LossKernels& kernels, const Tensor& logits, const Tensor& labels, double smoothing) {
  Results r{Full({1}, NAN), Full({labels.size()}, NAN), Clone(logits)};
  const LossKernels::CrossEntropyOptions options{smoothing, -100};
  kernels.CrossEntropyForward(logits, labels, options, r.log_sum_exp, r.loss);
  kernels.CrossEntropyBackward(Full({1}, 0.7), r.gradient, labels, options, r.log_sum_exp,
                               r.gradient);
  return r;
}

}  // namespace

TEST_CASE("fast cross entropy agrees with the reference") {
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t rows = dice.Between(1, 300), classes = dice.Between(1, 200);
    const Tensor logits = RandomTensor({rows, classes}, dice.Seed(), DType::kF32, -30, 30);
    const Tensor labels = RandomLabels(rows, classes, dice);
    const double smoothing = dice.Flip() ? 0.1 : 0;
    CAPTURE(rows, classes, smoothing);
    const Results actual = Run(b.fast->loss(), logits, labels, smoothing);
    const Results expected = Run(b.reference->loss(), logits, labels, smoothing);
    CHECK(Value(actual.loss) == Approx(Value(expected.loss)).epsilon(1e-5).margin(1e-6));
    CHECK(RelativeError(actual.log_sum_exp, expected.log_sum_exp) < kForward);
    if (classes > 1) CHECK(RelativeError(actual.gradient, expected.gradient) < kGradient);
    const Results again = Run(b.fast->loss(), logits, labels, smoothing);
    CHECK(SameBits(again.loss, actual.loss));
  }
}

TEST_CASE("fast cross entropy refuses labels out of range, and ignores all where told") {
  Backends b;
  const Tensor logits = RandomTensor({3, 4}, 1);
  Tensor sums = Full({3}, 0), loss = Full({1}, NAN), gradient = Full({3, 4}, NAN);
  for (const std::int64_t bad : {-1, 4}) {
    const Tensor labels = MakeTensor<std::int64_t>({3}, {0, bad, 1}, DType::kI64);
    CHECK_THROWS_AS(b.fast->loss().CrossEntropyForward(logits, labels, {}, sums, loss), DataError);
    CHECK_THROWS_AS(
        b.fast->loss().CrossEntropyBackward(Full({1}, 1), logits, labels, {}, sums, gradient),
        DataError);
  }
  const Tensor ignored = MakeTensor<std::int64_t>({3}, {-100, -100, -100}, DType::kI64);
  b.fast->loss().CrossEntropyForward(logits, ignored, {}, sums, loss);
  b.fast->loss().CrossEntropyBackward(Full({1}, 1), logits, ignored, {}, sums, gradient);
  CHECK(Value(loss) == 0);
  CHECK(MaxError(gradient, Full({3, 4}, 0)) == 0);
}

TEST_CASE("fast softmax agrees with the reference, in place and with masked values") {
  Backends b;
  Dice dice(2);
  for (int round = 0; round < 40; ++round) {
    const Shape shape{dice.Between(1, 100), dice.Between(1, round % 5 == 0 ? 1500 : 70)};
    Tensor x = RandomTensor(shape, dice.Seed(), DType::kF32, -20, 20);
    const bool logarithm = dice.Flip();
    if (!logarithm && shape[1] > 1) x.data<float>()[0] = -INFINITY;
    const Tensor dy = RandomTensor(shape, dice.Seed());
    CAPTURE(shape[0], shape[1], logarithm);
    Tensor y = Clone(x), expected = Full(shape, NAN);
    b.fast->loss().SoftmaxForward(y, logarithm, y);
    b.reference->loss().SoftmaxForward(x, logarithm, expected);
    if (!logarithm || shape[1] > 1) CHECK(RelativeError(y, expected) < kForward);
    Tensor dx = Full(shape, NAN), expected_dx = Full(shape, NAN);
    b.fast->loss().SoftmaxBackward(dy, expected, logarithm, dx);
    b.reference->loss().SoftmaxBackward(dy, expected, logarithm, expected_dx);
    if (shape[1] > 1) CHECK(RelativeError(dx, expected_dx) < kGradient);
  }
}
