#include "sdk/ops/loss.h"
#include "tests/ops/gradient_model.h"

namespace frugal::testing {
namespace {

TEST_CASE("gradients of softmax agree with differences", "[ops][gradients]") {
  GradientModel model;
  const std::vector<Tensor> input = {Numbers({2, 3, 5}, 14, -3, 3)};
  model.Check([](Context& context, const std::vector<Var>& x) { return Softmax(context, x[0]); },
              input);
  model.Check([](Context& context, const std::vector<Var>& x) { return LogSoftmax(context, x[0]); },
              input);
}

TEST_CASE("gradients of cross entropy agree with differences", "[ops][gradients]") {
  const Tensor targets = MakeTensor<int>({4}, {1, 0, 4, 2}, DType::kI64);
  for (const LossKernels::CrossEntropyOptions options :
       {LossKernels::CrossEntropyOptions{}, {0.1, -100}, {0.2, 4}}) {
    GradientModel model;
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return CrossEntropy(context, x[0], targets, options);
        },
        {Numbers({4, 5}, 15, -3, 3)});
  }
}

TEST_CASE("gradients of regression losses agree with differences", "[ops][gradients]") {
  const Tensor targets = Numbers({4, 3}, 16, 0.1, 0.9);
  for (const Regression kind :
       {Regression::kMse, Regression::kL1, Regression::kHuber, Regression::kBceWithLogits}) {
    INFO(static_cast<int>(kind));
    GradientModel model;
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return RegressionLoss(context, x[0], targets, kind, 0.4);
        },
        {Numbers({4, 3}, 17, -2, 2)});
    const auto between = [&](Context& context, const std::vector<Var>& x) {
      return RegressionLoss(context, x[0], x[1], kind, 0.4);
    };
    model.Check(between, {Numbers({4, 3}, 17, -2, 2), targets});
    const Tensor fixed = Numbers({4, 3}, 18, -2, 2);
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return RegressionLoss(context, {fixed}, x[0], kind, 0.4);
        },
        {targets});
  }
}

}  // namespace
}  // namespace frugal::testing
