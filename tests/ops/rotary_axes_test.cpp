#include "sdk/core/error.h"
#include "sdk/ops/rotary.h"
#include "tests/ops/operation_run.h"

namespace frugal::testing {
namespace {

// Cosine and sine of token `row`, pair `column`.
void CheckAngle(const RotaryAngles& angles, std::int64_t row, std::int64_t column, double angle) {
  INFO("token " << row << ", pair " << column);
  const std::int64_t at = row * angles.cosine.shape()[1] + column;
  CHECK(Value(angles.cosine, at) == Approx(std::cos(angle)).margin(1e-6));
  CHECK(Value(angles.sine, at) == Approx(std::sin(angle)).margin(1e-6));
}

TEST_CASE("angles of one axis are those of a sequence", "[ops][rotary]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const RotaryAngles plain = AnglesOf(
        environment.context(), {.first = 3, .positions = 7, .rotary_size = 6, .base = 100});
    const RotaryAngles axis = AnglesOfAxes(
        environment.context(), {{.count = 7, .rotary_size = 6, .first = 3, .base = 100}});
    CHECK(RelativeError(axis.cosine, plain.cosine) < 1e-6);
    CHECK(RelativeError(axis.sine, plain.sine) < 1e-6);
  }
}

TEST_CASE("angles of text and an image grid are those of FLUX", "[ops][rotary]") {
  const std::int64_t text = 3, height = 2, width = 5;
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const RotaryAngles angles = AnglesOfAxes(environment.context(),
                                             {{.rotary_size = 4},
                                              {.count = height, .rotary_size = 6},
                                              {.count = width, .rotary_size = 8}},
                                             text);
    REQUIRE(angles.cosine.shape() == Shape({text + height * width, 9}));
    const std::int64_t sizes[] = {4, 6, 8};
    for (std::int64_t token = 0; token < text + height * width; ++token) {
      const std::int64_t pixel = token - text;
      // The position ids of the public definition: (0, row, column), and 0 for text.
      const double ids[] = {0, token < text ? 0.0 : static_cast<double>(pixel / width),
                            token < text ? 0.0 : static_cast<double>(pixel % width)};
      std::int64_t column = 0;
      for (int axis = 0; axis < 3; ++axis) {
        for (std::int64_t i = 0; i < sizes[axis]; i += 2, ++column) {
          const double exponent = static_cast<double>(i) / static_cast<double>(sizes[axis]);
          CheckAngle(angles, token, column, ids[axis] / std::pow(10000, exponent));
        }
      }
    }
  }
}

TEST_CASE("an axis has its own origin, step and base", "[ops][rotary]") {
  TestEnvironment environment(kReferenceF64);
  const RotaryAngles angles = AnglesOfAxes(
      environment.context(), {{.count = 2, .rotary_size = 2, .first = -1, .step = 0.5},
                              {.count = 3, .rotary_size = 4, .first = 2, .step = 3, .base = 10}});
  REQUIRE(angles.cosine.shape() == Shape({6, 3}));
  for (std::int64_t token = 0; token < 6; ++token) {
    const auto row = static_cast<double>(token / 3), column = static_cast<double>(token % 3);
    CheckAngle(angles, token, 0, -1 + 0.5 * row);
    CheckAngle(angles, token, 1, 2 + 3 * column);
    CheckAngle(angles, token, 2, (2 + 3 * column) / std::sqrt(10));
  }
}

TEST_CASE("axes may be empty, and refuse odd sizes", "[ops][rotary][errors]") {
  TestEnvironment environment(kOneDnnF32);
  Context& context = environment.context();
  CHECK(AnglesOfAxes(context, {{.count = 0, .rotary_size = 4}}, 2).cosine.shape() == Shape({2, 2}));
  CHECK(AnglesOfAxes(context, {{.count = 4, .rotary_size = 0}}).cosine.shape() == Shape({4, 0}));
  CHECK_THROWS_AS(AnglesOfAxes(context, {{.count = 4, .rotary_size = 3}}), ShapeError);
  CHECK_THROWS_AS(AnglesOfAxes(context, {{.count = -1, .rotary_size = 4}}), ShapeError);
  CHECK_THROWS_AS(AnglesOfAxes(context, {{.count = 1, .rotary_size = -2}}), ShapeError);
}

TEST_CASE("position features of an image are the sines and cosines of columns, then rows",
          "[ops][rotary]") {
  TestEnvironment environment(kReferenceF64);
  const std::vector<AxisPositions> axes = {{.count = 3, .rotary_size = 4, .step = 0.5},
                                           {.count = 5, .rotary_size = 4}};
  const Var table = SinusoidsOfAxes(environment.context(), axes, {1, 0}, 1);
  REQUIRE(table.shape() == Shape({16, 8}));
  for (std::int64_t token = 0; token < 16; ++token) {
    const double row = token == 0 ? 0 : static_cast<double>((token - 1) / 5) / 2;
    const double column = token == 0 ? 0 : static_cast<double>((token - 1) % 5);
    const double expected[] = {std::sin(column),       std::sin(column / 100), std::cos(column),
                               std::cos(column / 100), std::sin(row),          std::sin(row / 100),
                               std::cos(row),          std::cos(row / 100)};
    for (std::int64_t i = 0; i < 8; ++i) {
      CHECK(Value(table.value, token * 8 + i) == Approx(expected[i]).margin(1e-12));
    }
  }
  CHECK_THROWS_AS(SinusoidsOfAxes(environment.context(), axes, {2}), ShapeError);
  CHECK_THROWS_AS(SinusoidsOfAxes(environment.context(), axes, {}), ShapeError);
}

Var TurnedBy(Context& context, const std::vector<Var>& x) {
  return RotateBy(context, x[0], x[1], x[2]);
}

TEST_CASE("pairs rotate by angles of their own", "[ops][rotary]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Tensor x = RandomTensor({2, 3, 4, 6}, 1, kind.dtype);
    const Tensor cosine = RandomTensor({3, 4, 3}, 2, kind.dtype);
    const Tensor sine = RandomTensor({3, 4, 3}, 3, kind.dtype);
    const Var y = RotateBy(environment.context(), {x}, {cosine}, {sine});
    for (std::int64_t pair = 0; pair < x.size() / 2; ++pair) {
      const double c = Value(cosine, pair % 36), s = Value(sine, pair % 36);
      const double a = Value(x, 2 * pair), b = Value(x, 2 * pair + 1);
      CHECK(Value(y.value, 2 * pair) == Approx(a * c - b * s).margin(1e-6));
      CHECK(Value(y.value, 2 * pair + 1) == Approx(a * s + b * c).margin(1e-6));
    }
  }
}

TEST_CASE("turning by one angle per position is the rotary embedding of neighbours",
          "[ops][rotary]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  const RotaryAngles angles = AnglesOf(context, {.positions = 5, .rotary_size = 4});
  const Tensor x = RandomTensor({2, 5, 1, 4}, 1, DType::kF64);
  const Var rotated =
      RotateBy(context, {x}, {angles.cosine.Reshape({5, 1, 2})}, {angles.sine.Reshape({5, 1, 2})});
  const RotaryGeometry geometry{
      .heads = 1, .head_size = 4, .rotary_size = 4, .pairing = RotaryPairing::kNeighbours};
  const Var expected =
      Rotate(context, {x.Reshape({2, 5, 4})}, geometry, angles.cosine, angles.sine);
  CHECK(MaxError(rotated.value, expected.value) < 1e-14);
}

TEST_CASE("gradients of pairs and of the angles that rotate them agree with differences",
          "[ops][gradients]") {
  GradientModel model;
  model.Check(TurnedBy, {Numbers({2, 3, 2, 4}, 1), Numbers({3, 2, 2}, 2), Numbers({3, 2, 2}, 3)});
}

TEST_CASE("turning by learned angles agrees in every world", "[ops][rotary][dry]") {
  CheckInEveryEnvironment(TurnedBy, {{2, 40, 3, 10}, {40, 3, 5}, {40, 3, 5}});
  CheckInEveryEnvironment(TurnedBy, {{1, 1, 1, 2}, {1, 1, 1}, {1, 1, 1}});
}

TEST_CASE("turning by angles refuses what does not fit", "[ops][rotary][errors]") {
  TestEnvironment environment(kOneDnnF32);
  Context& context = environment.context();
  const Var x = {Full({2, 3, 4, 6}, 1)}, good = {Full({3, 4, 3}, 1)};
  CHECK_THROWS_AS(RotateBy(context, x, {Full({3, 4, 6}, 1)}, good), ShapeError);
  CHECK_THROWS_AS(RotateBy(context, x, good, {Full({1, 4, 3}, 1)}), ShapeError);
  CHECK_THROWS_AS(RotateBy(context, {Full({3, 4, 6}, 1)}, good, good), ShapeError);
  CHECK_THROWS_AS(RotateBy(context, {Full({2, 3, 4, 7}, 1)}, good, good), ShapeError);
}

}  // namespace
}  // namespace frugal::testing
