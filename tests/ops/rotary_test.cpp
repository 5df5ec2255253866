#include "sdk/ops/rotary.h"

#include <cmath>

#include "tests/ops/gradient_model.h"

namespace frugal::testing {
namespace {

TEST_CASE("rotary angles are those of the paper", "[ops][rotary]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const RotaryAngles angles = AnglesOf(
        environment.context(), {.first = 3, .positions = 4, .rotary_size = 6, .base = 100});
    REQUIRE(angles.cosine.shape() == Shape({4, 3}));
    REQUIRE(angles.sine.shape() == Shape({4, 3}));
    for (std::int64_t t = 0; t < 4; ++t) {
      for (std::int64_t i = 0; i < 3; ++i) {
        const double angle =
            static_cast<double>(3 + t) / std::pow(100, 2.0 * static_cast<double>(i) / 6);
        CHECK(Value(angles.cosine, t * 3 + i) == Approx(std::cos(angle)).margin(1e-6));
        CHECK(Value(angles.sine, t * 3 + i) == Approx(std::sin(angle)).margin(1e-6));
      }
    }
  }
}

// x [1, T, 8]: two heads of 4.
Var Rotated(Context& context, const Var& x, std::int64_t first) {
  const RotaryAngles angles =
      AnglesOf(context, {.first = first, .positions = x.shape()[1], .rotary_size = 4, .base = 10});
  const RotaryGeometry geometry{.heads = 2, .head_size = 4, .rotary_size = 4};
  return Rotate(context, x, geometry, angles.cosine, angles.sine);
}

double DotOfHeads(const Tensor& a, std::int64_t at, const Tensor& b, std::int64_t to) {
  double sum = 0;
  for (std::int64_t i = 0; i < 4; ++i) sum += Value(a, at * 8 + i) * Value(b, to * 8 + i);
  return sum;
}

TEST_CASE("rotated by their positions, products depend on distances alone", "[ops][rotary]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    Context& context = environment.context();
    const Tensor q = RandomTensor({1, 5, 8}, 1, kind.dtype);
    const Tensor k = RandomTensor({1, 5, 8}, 2, kind.dtype);
    const Tensor q0 = Rotated(context, {q}, 0).value;
    const Tensor k0 = Rotated(context, {k}, 0).value;
    const Tensor q7 = Rotated(context, {q}, 7).value;
    const Tensor k7 = Rotated(context, {k}, 7).value;
    CHECK(DotOfHeads(q0, 4, k0, 1) == Approx(DotOfHeads(q7, 4, k7, 1)).margin(1e-5));
    CHECK(DotOfHeads(q0, 4, k0, 1) != Approx(DotOfHeads(q7, 4, k0, 1)).margin(1e-3));
    CHECK(DotOfHeads(q7, 2, q7, 2) == Approx(DotOfHeads(q, 2, q, 2)).epsilon(1e-5));
    // Nothing happens at position 0.
    for (std::int64_t i = 0; i < 8; ++i) CHECK(Value(q0, i) == Value(q, i));
  }
}

TEST_CASE("gradients of rotated heads agree with differences", "[ops][gradients]") {
  GradientModel model;
  model.Check([](Context& context, const std::vector<Var>& x) { return Rotated(context, x[0], 3); },
              {Numbers({1, 3, 8}, 4)});
}

}  // namespace
}  // namespace frugal::testing
