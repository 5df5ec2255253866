#include "sdk/ops/support/parameter_value.h"

#include "sdk/ops/elementwise.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/shape_ops.h"
#include "tests/ops/gradient_model.h"

// Parameters as variables, and what repeats them.
namespace frugal::testing {
namespace {

TEST_CASE("gradients of a parameter as a variable agree with differences", "[ops][gradients]") {
  GradientModel model;
  const Parameter& row = model.Add("row", {1, 3});
  const Parameter& weight = model.Add("weight", {3, 3});
  model.Check(
      [&](Context& context, const std::vector<Var>& x) {
        // Twice as a variable and once in a product: all three add up.
        const Var first = Add(context, x[0], ValueOf(context, weight));
        const Var second = Linear(context, first, weight, nullptr);
        const Var rows = Expand(context, ValueOf(context, row), {3, 3});
        return Add(context, Add(context, second, rows), ValueOf(context, weight));
      },
      {Numbers({3, 3}, 1)});
}

TEST_CASE("a frozen parameter as a variable gets no gradient", "[ops]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    Parameter parameter{
        .name = "p", .path = "p", .shape = {2, 3}, .initializer = Initializer::Uniform(-1, 1)};
    parameter.trainable = false;
    Tape tape;
    const TapeScope scope(environment.context(), &tape);
    const Var value = ValueOf(environment.context(), parameter);
    CHECK_FALSE(value.needs_gradient());
    CHECK(value.value.SharesStorageWith(environment.store().Value(parameter)));
    CHECK(tape.node_count() == 0);
  }
}

TEST_CASE("gradients of expand agree with differences", "[ops][gradients]") {
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{
           {{1, 1, 3}, {4, 1, 3}}, {{1, 2, 1}, {3, 2, 5}}, {{2, 3}, {2, 3}}, {{1}, {6}}}) {
    INFO(ToString(from) << " to " << ToString(to));
    GradientModel model;
    model.Check([shape = to](Context& context,
                             const std::vector<Var>& x) { return Expand(context, x[0], shape); },
                {Numbers(from, 2)});
  }
}

TEST_CASE("expand repeats along axes of one", "[ops]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Var x = {MakeTensor<int>({2, 1}, {3, 4}, kind.dtype)};
    const Var y = Expand(environment.context(), x, {2, 3});
    CHECK(Values(y.value) == std::vector<double>{3, 3, 3, 4, 4, 4});
    CHECK(Expand(environment.context(), x, {2, 0}).shape() == Shape({2, 0}));
  }
}

}  // namespace
}  // namespace frugal::testing
