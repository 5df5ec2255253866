#include <cmath>

#include "sdk/backend/backend.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::Uninitialized;
using testing::Values;

constexpr double kA = 0.75;  // the parameter of elu and leaky relu

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

double Reference(Activation kind, double x) {
  switch (kind) {
    case Activation::kIdentity:
      return x;
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kGelu:
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kQuickGelu:
      return x * Logistic(1.702 * x);
    case Activation::kSilu:
      return x * Logistic(x);
    case Activation::kSigmoid:
      return Logistic(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSoftplus:
      return std::log(1 + std::exp(x));
    case Activation::kElu:
      return x > 0 ? x : kA * (std::exp(x) - 1);
    case Activation::kLeakyRelu:
      return x > 0 ? x : kA * x;
    case Activation::kMish:
      return x * std::tanh(std::log(1 + std::exp(x)));
    case Activation::kHardswish:
      return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
    case Activation::kExp:
      return std::exp(x);
  }
  return 0;
}

std::vector<Activation> AllKinds() {
  std::vector<Activation> kinds;
  for (std::size_t i = 0; i < kActivationCount; ++i) kinds.push_back(static_cast<Activation>(i));
  return kinds;
}

TEST_CASE("eigen activations equal their formulas") {
  auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const Tensor x = RandomTensor({20001}, 1, dtype, -6, 6);
  for (const Activation kind : AllKinds()) {
    INFO(NameOf(kind));
    std::vector<double> expected;
    for (const double value : Values(x)) expected.push_back(Reference(kind, value));
    const Tensor y = Uninitialized({20001}, dtype);
    backend->elementwise().ActivationForward(kind, kA, x, y);
    CHECK(testing::RelativeError(y, expected) < (dtype == DType::kF64 ? 1e-14 : 1e-6));
    if (!DerivesFromOutput(kind)) continue;
    backend->elementwise().Copy(x, y);
    backend->elementwise().ActivationForward(kind, kA, y, y);
    CHECK(testing::RelativeError(y, expected) < (dtype == DType::kF64 ? 1e-14 : 1e-6));
  }
}

TEST_CASE("eigen activation gradients equal numeric derivatives") {
  auto backend = MakeEigenBackend();
  auto& elementwise = backend->elementwise();
  const DType f64 = DType::kF64;
  const Tensor x = RandomTensor({300}, 1, f64, -5, 5);
  const Tensor dy = RandomTensor({300}, 2, f64);
  const Tensor y = Uninitialized({300}, f64);
  for (const Activation kind : AllKinds()) {
    INFO(NameOf(kind));
    const auto loss = [&] {
      elementwise.ActivationForward(kind, kA, x, y);
      return testing::Dot(y, dy);
    };
    loss();
    const Tensor dx = Uninitialized({300}, f64);
    const Tensor kept = DerivesFromOutput(kind) ? y : x;
    elementwise.ActivationBackward(kind, kA, dy, kept, dx);
    const Tensor in_place = Uninitialized({300}, f64);
    elementwise.Copy(dy, in_place);
    elementwise.ActivationBackward(kind, kA, in_place, kept, in_place);
    CHECK(testing::MaxError(in_place, dx) < 1e-15);
    CHECK(testing::RelativeError(dx, testing::NumericGradient(loss, x)) < 1e-7);
  }
}

TEST_CASE("eigen activations stay finite and right at both ends, and keep NaN") {
  auto backend = MakeEigenBackend();
  auto& elementwise = backend->elementwise();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = MakeTensor<double>({5}, {-1e30, -1000, 1000, 1e30, nan}, dtype);
  const Tensor ones = testing::Full({5}, 1, dtype);
  for (const Activation kind : AllKinds()) {
    INFO(NameOf(kind));
    const Tensor y = Uninitialized({5}, dtype);
    const Tensor dx = Uninitialized({5}, dtype);
    elementwise.ActivationForward(kind, kA, x, y);
    elementwise.ActivationBackward(kind, kA, ones, DerivesFromOutput(kind) ? y : x, dx);
    const std::int64_t finite = kind == Activation::kExp ? 2 : 4;
    for (std::int64_t i = 0; i < finite; ++i) {
      CHECK(std::isfinite(testing::Value(y, i)));
      CHECK(std::isfinite(testing::Value(dx, i)));
    }
    CHECK(std::isnan(testing::Value(y, 4)));
  }
  const Tensor y = Uninitialized({5}, dtype);
  elementwise.ActivationForward(Activation::kSoftplus, 0, x, y);
  CHECK(testing::Value(y, 1) == 0);
  CHECK(testing::Value(y, 2) == 1000);
  elementwise.ActivationForward(Activation::kMish, 0, x, y);
  CHECK(testing::Value(y, 2) == 1000);
}

TEST_CASE("eigen add, scale and fill, in place too") {
  auto backend = MakeEigenBackend();
  auto& elementwise = backend->elementwise();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const Tensor a = MakeTensor<double>({3}, {1, 2, 3}, dtype);
  const Tensor b = MakeTensor<double>({3}, {10, 20, 30}, dtype);
  elementwise.Add(a, b, a);
  CHECK(Values(a) == std::vector<double>{11, 22, 33});
  elementwise.Scale(a, -0.5, a);
  CHECK(Values(a) == std::vector<double>{-5.5, -11, -16.5});
  elementwise.Fill(a, 2.5);
  CHECK(Values(a) == std::vector<double>{2.5, 2.5, 2.5});
  elementwise.Fill(a, 0);
  CHECK(Values(a) == std::vector<double>{0, 0, 0});
  elementwise.Fill(Uninitialized({0}, dtype), 1);
  const Tensor labels = Uninitialized({2}, DType::kI64);
  elementwise.Fill(labels, 0);
  CHECK(Values(labels) == std::vector<double>{0, 0});
  CHECK_THROWS_AS(elementwise.Fill(labels, 1), UsageError);
}

TEST_CASE("eigen copy converts between element types") {
  auto backend = MakeEigenBackend();
  auto& elementwise = backend->elementwise();
  const Tensor from = RandomTensor({40000}, 1, DType::kF64);
  const Tensor to = Uninitialized({40000});
  elementwise.Copy(from, to);
  CHECK(testing::MaxError(to, from) < 1e-7);
  const Tensor pixels = MakeTensor<int>({3}, {0, 7, 255}, DType::kU8);
  const Tensor values = Uninitialized({3});
  elementwise.Copy(pixels, values);
  CHECK(Values(values) == std::vector<double>{0, 7, 255});
  const Tensor same = Uninitialized({3}, DType::kU8);
  elementwise.Copy(pixels, same);
  CHECK(testing::SameBits(pixels, same));
  CHECK_THROWS_AS(elementwise.Copy(values, same), UsageError);
}

TEST_CASE("eigen dropout keeps what the random stream says, at the right rate") {
  auto backend = MakeEigenBackend();
  auto& elementwise = backend->elementwise();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const double rate = GENERATE(0.1, 0.5, 0.9);
  constexpr std::int64_t kCount = 100003;  // no multiple of a random block
  const Tensor ones = testing::Full({kCount}, 1, dtype);
  const Tensor y = Uninitialized({kCount}, dtype);
  elementwise.Dropout(ones, rate, 42, y);
  const auto values = Values(y);
  double kept = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool keep = UniformAt(42, i) >= rate;
    kept += keep ? 1 : 0;
    wrong += std::abs(values[i] - (keep ? 1 / (1 - rate) : 0)) < 1e-6 / (1 - rate) ? 0U : 1U;
  }
  CHECK(wrong == 0);
  CHECK(kept / kCount == Approx(1 - rate).margin(0.006));

  elementwise.Dropout(ones, rate, 42, ones);  // in place, and the same again
  CHECK(testing::SameBits(ones, y));
}

TEST_CASE("eigen dropout at the ends of its range") {
  auto backend = MakeEigenBackend();
  const Tensor x = RandomTensor({10}, 1);
  const Tensor y = Uninitialized({10});
  backend->elementwise().Dropout(x, 0, 1, y);
  CHECK(testing::SameBits(x, y));
  backend->elementwise().Dropout(x, 1, 1, y);
  CHECK(testing::MaxError(y, std::vector<double>(10, 0.0)) == 0);
}

std::vector<double> NaivePermute(const Tensor& x, const Shape& axes, const Shape& to) {
  const auto xs = Values(x);
  std::vector<double> y;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::array<std::int64_t, Shape::kMaxRank> at{};
    std::int64_t rest = i;
    for (std::size_t a = to.rank(); a-- > 0; rest /= to[a]) {
      at[static_cast<std::size_t>(axes[a])] = rest % to[a];
    }
    std::int64_t flat = 0;
    for (std::size_t a = 0; a < x.shape().rank(); ++a) flat = flat * x.shape()[a] + at[a];
    y.push_back(xs[static_cast<std::size_t>(flat)]);
  }
  return y;
}

TEST_CASE("eigen permute moves every element") {
  auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64, DType::kU8, DType::kI64);
  const auto [shape, axes] = GENERATE(table<Shape, Shape>({{{5}, {0}},
                                                           {{70, 45}, {1, 0}},
                                                           {{3, 4, 5}, {0, 1, 2}},
                                                           {{2, 33, 40, 3}, {0, 3, 1, 2}},
                                                           {{2, 5, 4, 7}, {0, 2, 1, 3}},
                                                           {{3, 1, 4, 2, 5}, {4, 1, 0, 3, 2}},
                                                           {{2, 3, 4, 5}, {3, 2, 1, 0}},
                                                           {{1, 1}, {1, 0}},
                                                           {{0, 3}, {1, 0}}}));
  Shape to = shape;
  for (std::size_t i = 0; i < axes.rank(); ++i) to[i] = shape[static_cast<std::size_t>(axes[i])];
  const Tensor x = RandomTensor(shape, 1, dtype, 0, 200);
  const Tensor y = Uninitialized(to, dtype);
  backend->elementwise().Permute(x, axes, y);
  CHECK(Values(y) == NaivePermute(x, axes, to));
}

}  // namespace
}  // namespace frugal
