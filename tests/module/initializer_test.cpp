#include "sdk/module/initializer.h"

#include <cmath>

#include "sdk/core/random.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal::testing {
namespace {

std::vector<double> Initialized(const Initializer& initializer, const Shape& shape,
                                DType dtype = DType::kF64, std::uint64_t seed = 1,
                                std::string_view path = "weight") {
  const Tensor tensor = Uninitialized(shape, dtype);
  Initialize(initializer, seed, path, tensor);
  return Values(tensor);
}

struct Moments {
  double mean = 0;
  double std = 0;
  double largest = 0;
};
Moments MomentsOf(const std::vector<double>& values) {
  Moments m;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) m.mean += value / count;
  for (const double value : values) {
    m.std += (value - m.mean) * (value - m.mean) / count;
    m.largest = std::max(m.largest, std::abs(value));
  }
  m.std = std::sqrt(m.std);
  return m;
}

struct Formula {
  Initializer initializer;
  double std;    // as published
  double bound;  // of uniform ones; 0 for normal ones
};

// fan_in = 32 * 9, fan_out = 64 * 9 for a weight [64, 32, 3, 3].
const Shape kWeight = {64, 32, 3, 3};
std::vector<Formula> Formulas() {
  const double in = 32 * 9;
  const double out = 64 * 9;
  const auto uniform = [](const Initializer& initializer, double bound) {
    return Formula{initializer, bound / std::sqrt(3.0), bound};
  };
  const auto normal = [](const Initializer& initializer, double variance) {
    return Formula{initializer, std::sqrt(variance), 0};
  };
  return {uniform(Initializer::XavierUniform(), std::sqrt(6 / (in + out))),
          normal(Initializer::XavierNormal(), 2 / (in + out)),
          uniform(Initializer::HeUniform(), std::sqrt(6 / in)),
          normal(Initializer::HeNormal(), 2 / in),
          uniform(Initializer::LecunUniform(), std::sqrt(3 / in)),
          normal(Initializer::LecunNormal(), 1 / in),
          uniform(Initializer::Uniform(-0.3, 0.3), 0.3),
          normal(Initializer::Normal(0, 0.02), 0.02 * 0.02)};
}

TEST_CASE("initializers follow their published formulas", "[module][initializer]") {
  for (const Formula& formula : Formulas()) {
    INFO(NameOf(formula.initializer.kind));
    const std::vector<double> values = Initialized(formula.initializer, kWeight);
    const Moments m = MomentsOf(values);
    const auto count = static_cast<double>(values.size());
    // Five standard errors of the mean; of the deviation it is 1 / sqrt(2 n) for a normal one.
    CHECK(std::abs(m.mean) < 5 * formula.std / std::sqrt(count));
    CHECK(std::abs(m.std / formula.std - 1) < 5 / std::sqrt(2 * count));
    if (formula.bound > 0) {
      CHECK(m.largest <= formula.bound);
      CHECK(m.largest > 0.999 * formula.bound);
    } else {
      CHECK(m.largest > 3 * formula.std);
    }
  }
}

TEST_CASE("uniform and normal take any place", "[module][initializer]") {
  const Moments uniform = MomentsOf(Initialized(Initializer::Uniform(2, 6), {10000}));
  CHECK(uniform.mean == Approx(4).margin(0.06));
  CHECK(uniform.largest < 6);
  const Moments normal = MomentsOf(Initialized(Initializer::Normal(-3, 0.5), {10000}));
  CHECK(normal.mean == Approx(-3).margin(0.025));
  CHECK(normal.std == Approx(0.5).epsilon(0.04));
}

TEST_CASE("each element is its number of the parameter's stream", "[module][initializer]") {
  const std::uint64_t key = StreamKey(1, "weight");
  for (std::int64_t count = 0; count <= 9; ++count) {
    const auto uniform = Initialized(Initializer::Uniform(-2, 3), {count});
    const auto normal = Initialized(Initializer::Normal(0.5, 2), {count}, DType::kF32);
    for (std::size_t i = 0; i < uniform.size(); ++i) {
      CHECK(uniform[i] == -2 + 5 * UniformAt(key, i));
      CHECK(normal[i] == static_cast<float>(0.5 + 2 * NormalAt(key, i)));
    }
  }
}

TEST_CASE("zero and constant are what they say", "[module][initializer]") {
  CHECK(Initialized(Initializer::Zero(), {3}) == std::vector<double>{0, 0, 0});
  CHECK(Initialized(Initializer::Constant(-1.5), {2}) == std::vector<double>{-1.5, -1.5});
}

TEST_CASE("places on a grid are sines and cosines of their column and row",
          "[module][initializer]") {
  const auto check = [](std::int64_t rows, std::int64_t columns, std::int64_t features,
                        double step) {
    const Shape shape = {1, rows * columns, features};
    const std::vector<double> values = Initialized(Initializer::GridSinusoid(columns, step), shape);
    const auto quarter = static_cast<std::size_t>(features / 4);
    std::vector<double> expected;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        for (const std::int64_t position : {column, row}) {
          std::vector<double> angles;
          for (std::size_t i = 0; i < quarter; ++i) {
            const double period =
                std::pow(10000.0, static_cast<double>(i) / static_cast<double>(quarter));
            angles.push_back(static_cast<double>(position) * step / period);
          }
          for (const double angle : angles) expected.push_back(std::sin(angle));
          for (const double angle : angles) expected.push_back(std::cos(angle));
        }
      }
    }
    CHECK(MaxError(values, expected) < 1e-12);
  };
  check(3, 3, 8, 1);
  check(2, 5, 12, 1);
  check(4, 3, 16, 0.25);
  check(1, 1, 4, 1);
  // Nothing of it is by chance.
  const Initializer grid = Initializer::GridSinusoid(2);
  CHECK(Initialized(grid, {1, 4, 8}, DType::kF64, 1) ==
        Initialized(grid, {1, 4, 8}, DType::kF64, 2));
}

TEST_CASE("tensors of no elements are filled with nothing", "[module][initializer]") {
  CHECK(Initialized(Initializer::HeNormal(), {0, 4}).empty());
  CHECK(Initialized(Initializer::XavierUniform(), {4, 0}).empty());
  CHECK(Initialized(Initializer::Orthogonal(), {0, 4}).empty());
}

TEST_CASE("fans are those of [out, in, kernel...]", "[module][initializer]") {
  const auto check = [](const Shape& shape, std::int64_t in, std::int64_t out) {
    INFO(ToString(shape));
    CHECK(FansOf(shape).in == in);
    CHECK(FansOf(shape).out == out);
  };
  check({5, 7}, 7, 5);
  check({5, 7, 3, 2}, 42, 30);
  check({9}, 9, 9);
  check({}, 1, 1);
}

TEST_CASE("an element depends on seed, path and index only", "[module][initializer]") {
  for (const Formula& formula : Formulas()) {
    INFO(NameOf(formula.initializer.kind));
    const auto whole = Initialized(formula.initializer, kWeight);
    CHECK(whole == Initialized(formula.initializer, kWeight));
    CHECK(whole != Initialized(formula.initializer, kWeight, DType::kF64, 2));
    CHECK(whole != Initialized(formula.initializer, kWeight, DType::kF64, 1, "other"));
  }
  // A longer tensor starts with a shorter one's elements where the fans do not matter.
  const auto longer = Initialized(Initializer::Normal(0, 1), {1000});
  const auto shorter = Initialized(Initializer::Normal(0, 1), {77});
  CHECK(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST_CASE("f32 values are the f64 ones, rounded", "[module][initializer]") {
  std::vector<Formula> all = Formulas();
  all.push_back({Initializer::Orthogonal(1.4), 0, 0});
  for (const Formula& formula : all) {
    INFO(NameOf(formula.initializer.kind));
    std::vector<double> wide = Initialized(formula.initializer, {24, 16});
    for (double& value : wide) value = static_cast<double>(static_cast<float>(value));
    CHECK(Initialized(formula.initializer, {24, 16}, DType::kF32) == wide);
  }
}

double DotOf(const std::vector<double>& matrix, std::size_t a, std::size_t b, std::size_t count,
             std::size_t step) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += matrix[a + i * step] * matrix[b + i * step];
  return sum;
}

void CheckOrthogonal(const Shape& shape, std::size_t rows, std::size_t columns) {
  INFO(ToString(shape));
  const std::vector<double> matrix = Initialized(Initializer::Orthogonal(2), shape);
  const bool wide = rows <= columns;
  const std::size_t vectors = wide ? rows : columns;
  const auto start = [&](std::size_t i) { return wide ? i * columns : i; };
  for (std::size_t i = 0; i < vectors; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double dot =
          DotOf(matrix, start(i), start(j), wide ? columns : rows, wide ? 1 : columns);
      CHECK(dot == Approx(i == j ? 4 : 0).margin(1e-12));
    }
  }
}

TEST_CASE("orthogonal matrices are orthogonal", "[module][initializer]") {
  CheckOrthogonal({12, 12}, 12, 12);
  CheckOrthogonal({5, 17}, 5, 17);
  CheckOrthogonal({17, 5}, 17, 5);
  CheckOrthogonal({6, 3, 3, 3}, 6, 27);
  CheckOrthogonal({1, 4}, 1, 4);
  CHECK(OrthogonalMatrix(1, 0, 5).empty());
}

TEST_CASE("initializers have names", "[module][initializer]") {
  CHECK(NameOf(Initializer::Zero().kind) == "zero");
  CHECK(NameOf(Initializer::XavierUniform().kind) == "xavier_uniform");
  CHECK(NameOf(Initializer::LecunNormal().kind) == "lecun_normal");
  CHECK(NameOf(Initializer::Orthogonal().kind) == "orthogonal");
}

}  // namespace
}  // namespace frugal::testing
