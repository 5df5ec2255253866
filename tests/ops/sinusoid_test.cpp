#include "sdk/ops/sinusoid.h"

#include "sdk/core/error.h"
#include "tests/ops/operation_run.h"

namespace frugal::testing {
namespace {

TEST_CASE("sines and cosines lie side by side, in either order", "[ops][sinusoid]") {
  const bool cosine_first = GENERATE(false, true);
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Tensor angles = RandomTensor({3, 2, 5}, 1, kind.dtype, -9, 9);
    const Var y = SineCosine(environment.context(), {angles}, cosine_first);
    REQUIRE(y.shape() == Shape({3, 2, 10}));
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t i = 0; i < 5; ++i) {
        const double angle = Value(angles, row * 5 + i);
        const std::int64_t sine = row * 10 + i + (cosine_first ? 5 : 0);
        const std::int64_t cosine = row * 10 + i + (cosine_first ? 0 : 5);
        CHECK(Value(y.value, sine) == Approx(std::sin(angle)).margin(1e-6));
        CHECK(Value(y.value, cosine) == Approx(std::cos(angle)).margin(1e-6));
      }
    }
  }
}

TEST_CASE("features of time steps are those of both public definitions", "[ops][sinusoid]") {
  struct Case {
    TimestepOptions options;
    double (*angle)(double t, float k);  // exponents and frequencies are f32, as there
  };
  static const auto kFall = static_cast<float>(-std::log(10000.0));
  const Case cases[] = {
      {{.features = 8},  // diffusers' defaults
       [](double t, float k) -> double { return t * std::exp(kFall * k / (4 - 1)); }},
      {{.features = 8, .cosine_first = true, .frequency_shift = 0},  // DiT
       [](double t, float k) -> double { return t * std::exp(kFall * k / 4); }},
      {{.features = 7, .frequency_shift = 0, .max_period = 100, .scale = 3},
       [](double t, float k) -> double { return 3 * t * std::exp(kFall / 2 * k / 3); }},
  };
  for (const auto& [options, angle] : cases) {
    TestEnvironment environment(kReferenceF64);
    const Tensor t = MakeTensor<double>({2, 2}, {0, 0.25, 17, 999}, DType::kF64);
    const Var y = TimestepFeatures(environment.context(), {t}, options);
    REQUIRE(y.shape() == Shape({2, 2, options.features}));
    const std::int64_t half = options.features / 2;
    for (std::int64_t row = 0; row < 4; ++row) {
      for (std::int64_t k = 0; k < half; ++k) {
        const double expected = angle(Value(t, row), static_cast<float>(k));
        const std::int64_t at = row * options.features + k;
        const bool flip = options.cosine_first;
        CHECK(Value(y.value, at) ==
              Approx(flip ? std::cos(expected) : std::sin(expected)).margin(1e-9));
        CHECK(Value(y.value, at + half) ==
              Approx(flip ? std::sin(expected) : std::cos(expected)).margin(1e-9));
      }
      if (options.features % 2 != 0) CHECK(Value(y.value, (row + 1) * options.features - 1) == 0);
    }
  }
}

TEST_CASE("features of time steps are computed exactly where activations are bf16",
          "[ops][sinusoid]") {
  TestEnvironment environment(kOneDnnBf16);
  const Tensor t = MakeTensor<double>({2}, {998, 999}, DType::kF32);  // one number in bf16
  const Var y = TimestepFeatures(environment.context(), {t}, {.features = 64});
  CHECK(y.dtype() == DType::kBF16);
  CHECK(Value(y.value, 0) == Approx(std::sin(998.0)).margin(4e-3));
  CHECK(Value(y.value, 64) == Approx(std::sin(999.0)).margin(4e-3));
}

TEST_CASE("gradients of sinusoids agree with differences", "[ops][gradients]") {
  GradientModel model;
  for (const bool cosine_first : {false, true}) {
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return SineCosine(context, x[0], cosine_first); },
                {Numbers({2, 3}, 1)});
    const TimestepOptions options{
        .features = 9, .cosine_first = cosine_first, .frequency_shift = 0.5, .scale = 2};
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return TimestepFeatures(context, x[0], options); },
                {Numbers({3}, 2)});
  }
}

TEST_CASE("sinusoids agree in every world", "[ops][sinusoid][dry]") {
  CheckInEveryEnvironment(
      [](Context& context, const std::vector<Var>& x) { return SineCosine(context, x[0], true); },
      {{40, 130}});
  CheckInEveryEnvironment(
      [](Context& context, const std::vector<Var>& x) {
        return TimestepFeatures(context, x[0], {.features = 33});
      },
      {{5}});
}

TEST_CASE("features of time steps refuse what has no frequencies", "[ops][sinusoid][errors]") {
  TestEnvironment environment(kReferenceF64);
  const Var t = {Full({2}, 1, DType::kF64)};
  CHECK_THROWS_AS(TimestepFeatures(environment.context(), t, {.features = 0}), ShapeError);
  CHECK_THROWS_AS(TimestepFeatures(environment.context(), t, {.features = 1}), ShapeError);
  CHECK_THROWS_WITH(TimestepFeatures(environment.context(), t, {.features = 2}),
                    Catch::Contains("their half more than the frequency shift (here 2 features)"));
  CHECK(TimestepFeatures(environment.context(), t, {.features = 2, .frequency_shift = 0}).shape() ==
        Shape({2, 2}));
  CHECK_THROWS_AS(SineCosine(environment.context(), {Full(Shape{}, 1, DType::kF64)}, true),
                  ShapeError);
}

}  // namespace
}  // namespace frugal::testing
