#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "tests/ops/gradient_model.h"

namespace frugal::testing {
namespace {

TEST_CASE("gradients of sums, dropout, flatten, permute and reshape agree with differences",
          "[ops][gradients]") {
  GradientModel model;
  const std::vector<Tensor> two = {Numbers({2, 3, 4}, 11), Numbers({2, 3, 4}, 12)};
  model.Check(
      [](Context& context, const std::vector<Var>& x) {
        // Each input several times: gradients are shared between slots and summed.
        const Var sum = Add(context, x[0], x[1]);
        return Add(context, Add(context, sum, sum), Activate(context, x[0], Activation::kSilu));
      },
      two);
  model.Check([](Context& context,
                 const std::vector<Var>& x) { return Dropout(context, x[0], 0.4, "here"); },
              {two[0]});
  model.Check([](Context& context, const std::vector<Var>& x) { return Flatten(context, x[0]); },
              {Numbers({2, 3, 2, 4}, 13)});
  model.Check(
      [](Context& context, const std::vector<Var>& x) {
        return Permute(context, x[0], {2, 0, 1});
      },
      {two[0]});
  model.Check(
      [](Context& context, const std::vector<Var>& x) {
        return Reshape(context, x[0], {6, 4});
      },
      {two[0]});
}

}  // namespace
}  // namespace frugal::testing
