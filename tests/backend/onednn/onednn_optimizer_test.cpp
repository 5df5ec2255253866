#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

struct State {
  Tensor parameter, first, second;
};

State Start(std::int64_t n) { return {RandomTensor({n}, 1), Full({n}, 0), Full({n}, 0)}; }

}  // namespace

TEST_CASE("fast SGD agrees with the reference over steps") {
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 16; ++round) {
    const std::int64_t n = round == 0 ? 0 : dice.Between(1, 40000);
    State fast = Start(n), slow = Start(n);
    SgdArguments a{.learning_rate = 0.1,
                   .momentum = dice.Flip() ? 0.9 : 0,
                   .dampening = dice.Flip() ? 0.2 : 0,
                   .weight_decay = dice.Flip() ? 0.01 : 0,
                   .gradient_scale = 0.5};
    a.nesterov = a.momentum != 0 && dice.Flip();
    if (a.momentum == 0) fast.first = slow.first = Tensor();
    if (fast.first) fast.first = Full({n}, NAN);  // what it held before the first step
    for (int step = 0; step < 4; ++step) {
      a.first_step = step == 0;
      const Tensor gradient = RandomTensor({n}, dice.Seed());
      b.fast->optimizer().Sgd(a, gradient, fast.first, fast.parameter);
      b.reference->optimizer().Sgd(a, gradient, slow.first, slow.parameter);
    }
    CAPTURE(n, a.momentum, a.nesterov, a.dampening);
    CHECK(RelativeError(fast.parameter, slow.parameter) < kForward);
    if (fast.first) CHECK(RelativeError(fast.first, slow.first) < kForward);
  }
}

TEST_CASE("fast Adam agrees with the reference over steps") {
  Backends b;
  Dice dice(2);
  for (int round = 0; round < 12; ++round) {
    const std::int64_t n = round == 0 ? 0 : dice.Between(1, 40000);
    State fast = Start(n), slow = Start(n);
    AdamArguments a{.learning_rate = 0.01,
                    .weight_decay = 0.1,
                    .decoupled = dice.Flip(),
                    .gradient_scale = 0.5};
    for (a.step = 1; a.step <= 4; ++a.step) {
      const Tensor gradient = RandomTensor({n}, dice.Seed());
      b.fast->optimizer().Adam(a, gradient, fast.first, fast.second, fast.parameter);
      b.reference->optimizer().Adam(a, gradient, slow.first, slow.second, slow.parameter);
    }
    CAPTURE(n, a.decoupled);
    CHECK(RelativeError(fast.parameter, slow.parameter) < kForward);
    CHECK(RelativeError(fast.second, slow.second) < kForward);
  }
}

TEST_CASE("fast sum of squares agrees with the reference and repeats to the bit") {
  Backends b;
  for (const std::int64_t n : {0, 1, 1000, 100001}) {
    const Tensor x = RandomTensor({n}, 3);
    const double expected = b.reference->optimizer().SumOfSquares(x);
    const double first = b.fast->optimizer().SumOfSquares(x);
    CHECK(first == Approx(expected).epsilon(1e-12));
    for (int i = 0; i < kRepeats; ++i) CHECK(b.fast->optimizer().SumOfSquares(x) == first);
  }
}
