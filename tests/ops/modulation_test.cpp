#include "sdk/ops/norm/modulation.h"

#include "sdk/core/error.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"
#include "tests/ops/operation_run.h"

namespace frugal::testing {
namespace {

// [N, D] -> [N, 1, ..., D], to be repeated by Arithmetic.
Var Between(Context& context, const Var& part, std::size_t rank) {
  std::vector<std::int64_t> extents(rank, 1);
  extents.front() = part.shape()[0];
  extents.back() = part.shape()[1];
  return Reshape(context, part, Shape(extents));
}

// The definition in small steps.
Var Modulated(Context& context, const Var& x, const Var& shift, const Var& scale) {
  if (!scale.value) {
    return Arithmetic(context, BinaryKind::kAdd, x, Between(context, shift, x.shape().rank()));
  }
  const Var factor = Between(context, scale, x.shape().rank());
  const Var scaled = Arithmetic(context, BinaryKind::kMultiply, x, factor);
  const Var sum = Add(context, x, scaled);
  if (!shift.value) return sum;
  return Arithmetic(context, BinaryKind::kAdd, sum, Between(context, shift, x.shape().rank()));
}

void CheckSame(const CheckedFunction& one, const CheckedFunction& other,
               const std::vector<Shape>& shapes) {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    CheckAgree(RunOperation(kind, one, shapes), RunOperation(kind, other, shapes), 2e-5);
  }
}

const std::vector<Shape> kSizes = {{2, 6}, {1, 1, 2}, {3, 5, 7}, {2, 3, 4, 16}, {65, 2, 40}};

Shape PartShape(const Shape& x) { return {x[0], x.back()}; }

TEST_CASE("modulation is its definition", "[ops][modulation]") {
  for (const Shape& x : kSizes) {
    INFO(ToString(x));
    const auto with = [](auto operation) {
      return [=](Context& context, const std::vector<Var>& v) {
        return operation(context, v[0], v.size() > 2 ? v[2] : Var(), v[1]);
      };
    };
    CheckSame(with(Modulate), with(Modulated), {x, PartShape(x), PartShape(x)});
    CheckSame(with(Modulate), with(Modulated), {x, PartShape(x)});
    CheckSame([](Context& context,
                 const std::vector<Var>& v) { return Modulate(context, v[0], v[1], {}); },
              [](Context& context, const std::vector<Var>& v) {
                return Modulated(context, v[0], v[1], {});
              },
              {x, PartShape(x)});
    const auto norm = [](Context& context, const Var& v, const Var& shift, const Var& scale) {
      return ModulatedLayerNorm(context, v, {}, 0.1, shift, scale);
    };
    const auto slow = [](Context& context, const Var& v, const Var& shift, const Var& scale) {
      return Modulated(context, LayerNorm(context, v, {}, 0.1), shift, scale);
    };
    CheckSame(with(norm), with(slow), {x, PartShape(x), PartShape(x)});
    CheckSame(with(norm), with(slow), {x, PartShape(x)});
  }
}

TEST_CASE("a gated sum is its definition", "[ops][modulation]") {
  for (const Shape& x : kSizes) {
    INFO(ToString(x));
    CheckSame([](Context& context,
                 const std::vector<Var>& v) { return GatedAdd(context, v[0], v[1], v[2]); },
              [](Context& context, const std::vector<Var>& v) {
                const Var gate = Between(context, v[1], v[0].shape().rank());
                return Add(context, v[2], Arithmetic(context, BinaryKind::kMultiply, v[0], gate));
              },
              {x, PartShape(x), x});
  }
}

TEST_CASE("gradients of modulation agree with differences", "[ops][gradients]") {
  for (const bool affine : {false, true}) {
    INFO((affine ? "affine" : "plain"));
    GradientModel model;
    NormParameters p;
    if (affine) p = {&model.Add("weight", {4}), &model.Add("bias", {4})};
    const std::vector<Tensor> inputs = {Numbers({3, 5, 4}, 1), Numbers({3, 4}, 2),
                                        Numbers({3, 4}, 3)};
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return ModulatedLayerNorm(context, x[0], p, 1e-3, x[1], x[2]);
        },
        inputs);
    model.Check(  // the second use adds to the first one's gradients
        [&](Context& context, const std::vector<Var>& x) {
          const Var once = ModulatedLayerNorm(context, x[0], p, 1e-3, {}, x[1]);
          return ModulatedLayerNorm(context, once, p, 1e-3, {}, x[1]);
        },
        {inputs[0], inputs[1]});
    if (affine) continue;
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return Modulate(context, x[0], x[1], x[2]); },
                inputs);
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return Modulate(context, x[0], x[1], {}); },
                {inputs[0], inputs[1]});
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return GatedAdd(context, x[0], x[1], x[2]); },
                {inputs[0], inputs[1], Numbers({3, 5, 4}, 4)});
  }
}

TEST_CASE("modulation by parts of one product agrees in every world", "[ops][modulation][dry]") {
  CheckInEveryEnvironment(
      [](Context& context, const std::vector<Var>& v) {
        const auto part = [&](std::int64_t i) {
          return Slice(context, v[1], {{.axis = 1, .begin = 24 * i, .end = 24 * (i + 1)}});
        };
        const Var normal = ModulatedLayerNorm(context, v[0], {}, 1e-3, part(0), part(1));
        const Var again = Modulate(context, Modulate(context, normal, {}, part(2)), part(1), {});
        return GatedAdd(context, again, part(3), v[0]);
      },
      {{3, 50, 24}, {3, 5 * 24}});  // the last part is not used
}

TEST_CASE("modulation differentiates only what wants it", "[ops][modulation]") {
  TestEnvironment environment(kOneDnnF32);
  Context& context = environment.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  const Var x = {RandomTensor({2, 3, 4}, 1)};
  const Var scale = {RandomTensor({2, 4}, 2), tape.NewSlot()};
  const Var y =
      GatedAdd(context, ModulatedLayerNorm(context, x, {}, 1e-5, {}, scale), {scale.value}, x);
  tape.Backward(context, y.slot, RandomTensor(y.shape(), 3));
  CHECK(tape.TakeGradient(scale.slot));
}

TEST_CASE("modulation refuses parts that do not fit", "[ops][modulation][errors]") {
  TestEnvironment environment(kOneDnnF32);
  Context& context = environment.context();
  const LabelScope label(context, "norm1");
  const Var x = {Full({2, 3, 4}, 1)};
  const Var good = {Full({2, 4}, 1)};
  for (const Shape& wrong : {Shape{4}, Shape{2, 5}, Shape{1, 4}, Shape{2, 1, 4}}) {
    const Var part = {Full(wrong, 1)};
    CHECK_THROWS_WITH(Modulate(context, x, part, good), Catch::Contains("norm1") &&
                                                            Catch::Contains("the shift of x") &&
                                                            Catch::Contains(ToString(wrong)));
    CHECK_THROWS_AS(Modulate(context, x, good, part), ShapeError);
    CHECK_THROWS_AS(ModulatedLayerNorm(context, x, {}, 1e-5, part, good), ShapeError);
    CHECK_THROWS_AS(ModulatedLayerNorm(context, x, {}, 1e-5, good, part), ShapeError);
    CHECK_THROWS_AS(GatedAdd(context, x, part, x), ShapeError);
  }
  CHECK_THROWS_AS(ModulatedLayerNorm(context, x, {}, 1e-5, good, {}), ShapeError);
  CHECK_THROWS_AS(GatedAdd(context, x, {}, x), ShapeError);
  CHECK_THROWS_AS(GatedAdd(context, x, good, {}), ShapeError);
  CHECK_THROWS_AS(GatedAdd(context, x, good, {Full({2, 4, 3}, 1)}), ShapeError);
  CHECK_THROWS_AS(Modulate(context, {Full({4}, 1)}, {}, good), ShapeError);
}

}  // namespace
}  // namespace frugal::testing
