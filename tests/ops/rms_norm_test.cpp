#include "sdk/ops/norm/norm.h"
#include "tests/ops/operation_run.h"

namespace frugal::testing {
namespace {

// Queries' and keys' norm: one weight for every head.
TEST_CASE("rms norm takes heads [N, T, H, d] with a weight [d]", "[ops][norm]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Parameter weight{
        .name = "w", .path = "w", .shape = {4}, .initializer = Initializer::Uniform(0.5, 2)};
    const Tensor x = RandomTensor({2, 3, 5, 4}, 1, kind.dtype);
    const Var y = RmsNorm(environment.context(), {x}, &weight, 1e-3);
    REQUIRE(y.shape() == x.shape());
    const Tensor scale = environment.store().Value(weight);
    for (std::int64_t row = 0; row < 30; ++row) {
      double squares = 0;
      for (std::int64_t i = 0; i < 4; ++i) squares += std::pow(Value(x, row * 4 + i), 2);
      for (std::int64_t i = 0; i < 4; ++i) {
        const double expected =
            Value(x, row * 4 + i) / std::sqrt(squares / 4 + 1e-3) * Value(scale, i);
        CHECK(Value(y.value, row * 4 + i) == Approx(expected).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("gradients of rms norm over heads agree with differences", "[ops][gradients]") {
  for (const bool weighted : {false, true}) {
    GradientModel model;
    const Parameter* weight = weighted ? &model.Add("weight", {4}) : nullptr;
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return RmsNorm(context, RmsNorm(context, x[0], weight, 1e-3), weight, 1e-3);
        },
        {Numbers({2, 3, 2, 4}, 1)});
  }
}

TEST_CASE("rms norm of heads agrees in every world", "[ops][norm][dry]") {
  const auto norm = [](Context& context, const std::vector<Var>& x) {
    return RmsNorm(context, x[0], nullptr, 1e-3);
  };
  CheckInEveryEnvironment(norm, {{2, 30, 3, 64}});
  CheckInEveryEnvironment(norm, {{1, 1, 1, 3}});
  CheckInEveryEnvironment(norm, {{3, 1500}});
}

}  // namespace
}  // namespace frugal::testing
