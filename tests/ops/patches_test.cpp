#include "sdk/ops/spatial/patches.h"

#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/shape_ops.h"
#include "tests/ops/operation_run.h"

namespace frugal::testing {
namespace {

TEST_CASE("patches hold their pixels in the public orders, and give them back", "[ops][patches]") {
  const std::int64_t n = 2, h = 3, w = 2, c = 3, p = 2;
  for (const EnvironmentKind& kind : AllEnvironments()) {
    for (const PatchOrder order : {PatchOrder::kChannelsLast, PatchOrder::kChannelsFirst}) {
      TestEnvironment environment(kind);
      const Tensor x = RandomTensor({n, h * p, w * p, c}, 1, kind.dtype);
      const Var patches = PatchesOf(environment.context(), {x}, p, order);
      REQUIRE(patches.shape() == Shape({n, h, w, p * p * c}));
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t channel = i % c, column = i / c % (w * p),
                           row = i / (c * w * p) % (h * p);
        const std::int64_t image = i / (c * w * p * h * p);
        const std::int64_t in_patch = order == PatchOrder::kChannelsLast
                                          ? (row % p * p + column % p) * c + channel
                                          : (channel * p + row % p) * p + column % p;
        const std::int64_t at = ((image * h + row / p) * w + column / p) * p * p * c + in_patch;
        REQUIRE(Value(patches.value, at) == Value(x, i));
      }
      CHECK(SameBits(ImageOf(environment.context(), patches, p, order).value, x));
    }
  }
}

TEST_CASE("patches refuse what does not divide", "[ops][patches][errors]") {
  TestEnvironment environment(kOneDnnF32);
  Context& context = environment.context();
  const auto last = PatchOrder::kChannelsLast;
  CHECK_THROWS_WITH(
      PatchesOf(context, {Full({1, 4, 5, 3}, 1)}, 2, last),
      Catch::Contains("multiples of the patch size 2") && Catch::Contains("[1, 4, 5, 3]"));
  CHECK_THROWS_AS(PatchesOf(context, {Full({4, 4, 3}, 1)}, 2, last), ShapeError);
  CHECK_THROWS_AS(PatchesOf(context, {Full({1, 4, 4, 3}, 1)}, 0, last), ShapeError);
  CHECK_THROWS_AS(ImageOf(context, {Full({1, 4, 4, 6}, 1)}, 2, last), ShapeError);
}

TEST_CASE("permutations of seven axes agree in every world", "[ops][dry]") {
  CheckInEveryEnvironment(
      [](Context& context, const std::vector<Var>& x) {
        return Permute(context, x[0], {0, 4, 1, 6, 3, 5, 2});
      },
      {{2, 3, 2, 3, 2, 3, 2}});
}

TEST_CASE("slices of one variable share its gradient", "[ops][dry]") {
  const auto sum_of_slices = [](Context& context, const std::vector<Var>& x) {
    const Var left = Slice(context, x[0], {{.axis = 1, .begin = 0, .end = 4}});
    const Var right = Slice(context, x[0], {{.axis = 1, .begin = 3, .end = 7}});
    const Var even = Slice(context, x[0], {{.axis = 1, .begin = 0, .end = 7, .step = 2}});
    return Add(context, Add(context, left, right), even);
  };
  GradientModel model;
  model.Check(sum_of_slices, {Numbers({3, 7}, 1)});
  CheckInEveryEnvironment(sum_of_slices, {{3, 7}});
  // The gradient that arrived first is another variable's too, and must not change under it.
  const auto shared = [&](Context& context, const std::vector<Var>& x) {
    const Var slice = Slice(context, x[0], {{.axis = 1, .begin = 0, .end = 3}});
    const std::vector<Var> both = {Add(context, x[0], x[1]), slice};
    return Concat(context, both, 1);
  };
  model.Check(shared, {Numbers({3, 4}, 1), Numbers({3, 4}, 2)});
}

TEST_CASE("scaling and mixing agree with differences and in every world", "[ops][gradients]") {
  const auto scaled = [](Context& context, const std::vector<Var>& x) {
    return Scale(context, Scale(context, x[0], -2.5), 1);
  };
  const auto mixed = [](Context& context, const std::vector<Var>& x) {
    return Blend(context, x[0], x[1], x[2]);
  };
  GradientModel model;
  model.Check(scaled, {Numbers({3, 4}, 1)});
  model.Check(mixed, {Numbers({2, 3, 4}, 1), Numbers({2, 3, 4}, 2), Numbers({1}, 3)});
  CheckInEveryEnvironment(scaled, {{30, 4}});
  CheckInEveryEnvironment(mixed, {{2, 3, 5, 8}, {2, 3, 5, 8}, {1}});
  TestEnvironment environment(kReferenceF64);
  const Var a = {Full({2, 2}, 3, DType::kF64)}, b = {Full({2, 2}, 7, DType::kF64)};
  const Var y = Blend(environment.context(), a, b, {Full({1}, 0.25, DType::kF64)});
  CHECK(MaxError(y.value, Full({2, 2}, 6, DType::kF64)) < 1e-14);
  CHECK_THROWS_AS(Blend(environment.context(), a, b, a), ShapeError);
  CHECK_THROWS_AS(Blend(environment.context(), a, {Full({2, 3}, 1, DType::kF64)}, {Full({1}, 1)}),
                  ShapeError);
}

}  // namespace
}  // namespace frugal::testing
