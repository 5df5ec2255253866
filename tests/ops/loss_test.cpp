#include "sdk/ops/loss.h"

#include <cmath>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

Tensor Labels(const std::vector<int>& labels) {
  return MakeTensor({static_cast<std::int64_t>(labels.size())}, labels, DType::kI64);
}

TEST_CASE("cross entropy of even logits is the logarithm of the classes", "[ops][loss]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Var loss =
        CrossEntropy(environment.context(), {Full({3, 7}, 100, kind.dtype)}, Labels({0, 3, 6}));
    CHECK(Value(loss.value) == Approx(std::log(7)));
  }
}

TEST_CASE("rows that are ignored count for nothing, also when all are", "[ops][loss]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Tensor logits = RandomTensor({3, 4}, 1, kind.dtype);
    const Pass pass = RunPass(
        environment,
        [&](Context& context, const Var& x) {
          return CrossEntropy(context, x, Labels({-100, 2, -100}));
        },
        logits);
    const std::vector<double> gradient = Values(pass.input_gradient);
    for (const std::size_t i : {0U, 1U, 2U, 3U, 8U, 9U, 10U, 11U}) CHECK(gradient[i] == 0);
    CHECK(gradient[6] != 0);
    const Var none = CrossEntropy(environment.context(), {logits}, Labels({-100, -100, -100}));
    CHECK(Value(none.value) == 0);
  }
}

TEST_CASE("losses refuse what does not fit", "[ops][loss][errors]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    Context& context = environment.context();
    const LabelScope label(context, "loss");
    const Var x = {RandomTensor({3, 4}, 1, kind.dtype)};
    CHECK_THROWS_WITH(CrossEntropy(context, x, Labels({0, 1})),
                      "[loss] cross entropy takes a row of logits for each of the 2 targets; the "
                      "input is [3, 4]; end the network in [N, classes]");
    CHECK_THROWS_AS(CrossEntropy(context, x, Labels({0, 4, 1})), DataError);
    CHECK_THROWS_AS(CrossEntropy(context, x, Labels({0, -1, 1})), DataError);
    CHECK_THROWS_WITH(
        RegressionLoss(context, x, RandomTensor({3}, 1, kind.dtype), Regression::kMse),
        "[loss] the loss compares with a target of shape [3]; the input is [3, 4]; end the "
        "network in the target's shape, or correct the target's");
    CHECK_THROWS_WITH(Softmax(context, {Full({}, 1, kind.dtype)}),
                      "[loss] softmax takes [..., D]; the input is []");
    CHECK(environment.ledger().live_total() == 0);
  }
}

}  // namespace
}  // namespace frugal::testing
