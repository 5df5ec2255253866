#include <cmath>
#include <limits>

#include "sdk/backend/backend.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::Uninitialized;
using testing::Values;

constexpr double kEpsilon = 1e-3;

// Normalizes elements that share group_of(i); scale and shift by channel i % channels.
template <class GroupOf>
std::vector<double> Naive(const Tensor& x, const Tensor& weight, const Tensor& bias,
                          std::size_t groups, const GroupOf& group_of) {
  const auto xs = Values(x);
  std::vector<double> count(groups), mean(groups), variance(groups), y;
  const auto channels = static_cast<std::size_t>(x.shape().back());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    count[group_of(i)] += 1;
    mean[group_of(i)] += xs[i];
  }
  for (std::size_t k = 0; k < groups; ++k) mean[k] /= count[k];
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double deviation = xs[i] - mean[group_of(i)];
    variance[group_of(i)] += deviation * deviation / count[group_of(i)];
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double normal = (xs[i] - mean[group_of(i)]) / std::sqrt(variance[group_of(i)] + kEpsilon);
    const double scale = weight ? Values(weight)[i % channels] : 1;
    y.push_back(normal * scale + (bias ? Values(bias)[i % channels] : 0));
  }
  return y;
}

double NormTolerance(DType dtype) { return dtype == DType::kF64 ? 1e-12 : 1e-5; }

TEST_CASE("eigen layer norm equals its formula") {
  const auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const bool affine = GENERATE(true, false);
  const std::int64_t width = GENERATE(1, 7, 130);
  const Tensor x = RandomTensor({3, 5, width}, 1, dtype, 99, 101);  // a mean far from 0
  const Tensor weight = affine ? RandomTensor({width}, 2, dtype) : Tensor();
  const Tensor bias = affine ? RandomTensor({width}, 3, dtype) : Tensor();
  const Tensor y = Uninitialized(x.shape(), dtype);
  const Tensor mean = Uninitialized({15}, dtype);
  const Tensor rstd = Uninitialized({15}, dtype);
  backend->norm().LayerForward(x, weight, bias, kEpsilon, y, mean, rstd);
  const auto group = [&](std::size_t i) { return i / static_cast<std::size_t>(width); };
  const auto expected = Naive(x, weight, bias, 15, group);
  CHECK(testing::MaxError(y, expected) < 10 * NormTolerance(dtype));
}

TEST_CASE("eigen layer norm backward equals numeric derivatives") {
  const auto backend = MakeEigenBackend();
  auto& norm = backend->norm();
  const bool affine = GENERATE(true, false);
  const DType f64 = DType::kF64;
  const Tensor x = RandomTensor({4, 9}, 1, f64);
  const Tensor dy = RandomTensor({4, 9}, 2, f64);
  const Tensor weight = affine ? RandomTensor({9}, 3, f64) : Tensor();
  const Tensor bias = affine ? RandomTensor({9}, 4, f64) : Tensor();
  const Tensor y = Uninitialized({4, 9}, f64);
  const Tensor mean = Uninitialized({4}, f64);
  const Tensor rstd = Uninitialized({4}, f64);
  const auto loss = [&] {
    norm.LayerForward(x, weight, bias, kEpsilon, y, mean, rstd);
    return testing::Dot(y, dy);
  };
  loss();
  const Tensor dx = Uninitialized({4, 9}, f64);
  const Tensor dweight = affine ? Uninitialized({9}, f64) : Tensor();
  const Tensor dbias = affine ? Uninitialized({9}, f64) : Tensor();
  norm.LayerBackward(dy, x, mean, rstd, weight, dx, dweight, dbias, false, nullptr);
  CHECK(testing::RelativeError(dx, testing::NumericGradient(loss, x)) < 1e-8);
  if (!affine) return;
  CHECK(testing::RelativeError(dweight, testing::NumericGradient(loss, weight)) < 1e-8);
  CHECK(testing::RelativeError(dbias, testing::NumericGradient(loss, bias)) < 1e-8);

  const auto once = Values(dbias);
  loss();
  norm.LayerBackward(dy, x, mean, rstd, weight, Tensor(), dweight, dbias, true, nullptr);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(Values(dbias)[i] == Approx(2 * once[i]));
}

struct Group {
  const char* name;
  GroupNormGeometry g;
};

std::vector<Group> Groups() {
  return {{"small", {.batch = 2, .size = 3, .channels = 6, .groups = 3}},
          {"one group over several blocks", {.batch = 1, .size = 2, .channels = 300, .groups = 1}},
          {"groups in several blocks", {.batch = 2, .size = 5, .channels = 144, .groups = 9}},
          {"wide groups", {.batch = 1, .size = 3, .channels = 400, .groups = 2}},
          {"each channel alone", {.batch = 3, .size = 4, .channels = 5, .groups = 5}}};
}

std::size_t GroupOf(const GroupNormGeometry& g, std::size_t i) {
  const auto at = static_cast<std::int64_t>(i);
  return static_cast<std::size_t>(at / (g.size * g.channels) * g.groups +
                                  at % g.channels / (g.channels / g.groups));
}

TEST_CASE("eigen group norm equals its formula") {
  const auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const bool affine = GENERATE(true, false);
  for (const auto& [name, g] : Groups()) {
    INFO(name);
    const Tensor x = RandomTensor({g.batch, g.size, g.channels}, 1, dtype, -1, 3);
    const Tensor weight = affine ? RandomTensor({g.channels}, 2, dtype) : Tensor();
    const Tensor bias = affine ? RandomTensor({g.channels}, 3, dtype) : Tensor();
    const Tensor y = Uninitialized(x.shape(), dtype);
    const Tensor mean = Uninitialized({g.batch, g.groups}, dtype);
    const Tensor rstd = Uninitialized({g.batch, g.groups}, dtype);
    backend->norm().GroupForward(g, x, weight, bias, kEpsilon, y, mean, rstd);
    const auto expected = Naive(x, weight, bias, static_cast<std::size_t>(g.batch * g.groups),
                                [&geometry = g](std::size_t i) { return GroupOf(geometry, i); });
    CHECK(testing::MaxError(y, expected) < NormTolerance(dtype));
  }
}

TEST_CASE("eigen group norm backward equals numeric derivatives") {
  const auto backend = MakeEigenBackend();
  auto& norm = backend->norm();
  const DType f64 = DType::kF64;
  for (const auto& [name, geometry] : Groups()) {
    INFO(name);
    const GroupNormGeometry g = geometry;
    const Tensor x = RandomTensor({g.batch, g.size, g.channels}, 1, f64);
    const Tensor dy = RandomTensor(x.shape(), 2, f64);
    const Tensor weight = RandomTensor({g.channels}, 3, f64);
    const Tensor bias = RandomTensor({g.channels}, 4, f64);
    const Tensor y = Uninitialized(x.shape(), f64);
    const Tensor mean = Uninitialized({g.batch, g.groups}, f64);
    const Tensor rstd = Uninitialized({g.batch, g.groups}, f64);
    const auto loss = [&] {
      norm.GroupForward(g, x, weight, bias, kEpsilon, y, mean, rstd);
      return testing::Dot(y, dy);
    };
    loss();
    const Tensor dx = Uninitialized(x.shape(), f64);
    const Tensor dweight = Uninitialized({g.channels}, f64);
    const Tensor dbias = Uninitialized({g.channels}, f64);
    const Tensor scratch = testing::ScratchOf(norm.GroupBackwardScratch(g, f64));
    norm.GroupBackward(g, dy, x, mean, rstd, weight, dx, dweight, dbias, false, scratch.raw());
    const auto numeric_dx = testing::NumericGradient(loss, x);
    CHECK(testing::RelativeError(dx, numeric_dx) < 1e-7);
    CHECK(testing::RelativeError(dweight, testing::NumericGradient(loss, weight)) < 1e-8);
    CHECK(testing::RelativeError(dbias, testing::NumericGradient(loss, bias)) < 1e-8);
  }
}

TEST_CASE("eigen batch norm equals its formula, with and without relu") {
  const auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const bool relu = GENERATE(true, false);
  const std::int64_t channels = GENERATE(1, 3, 131);
  const Tensor x = RandomTensor({2, 3, 5, channels}, 1, dtype, 9, 11);
  const Tensor weight = relu ? RandomTensor({channels}, 2, dtype) : Tensor();
  const Tensor bias = relu ? RandomTensor({channels}, 3, dtype) : Tensor();
  const Tensor y = Uninitialized(x.shape(), dtype);
  const Tensor mean = Uninitialized({channels}, dtype);
  const Tensor rstd = Uninitialized({channels}, dtype);
  const Tensor scratch = testing::ScratchOf(backend->norm().BatchScratch(x));
  backend->norm().BatchForward(x, weight, bias, kEpsilon, relu, y, mean, rstd, scratch.raw());
  const auto width = static_cast<std::size_t>(channels);
  auto expected = Naive(x, weight, bias, width, [&](std::size_t i) { return i % width; });
  for (double& value : expected) value = relu ? std::max(value, 0.0) : value;
  CHECK(testing::MaxError(y, expected) < NormTolerance(dtype));
}

TEST_CASE("eigen batch norm backward equals numeric derivatives") {
  const auto backend = MakeEigenBackend();
  auto& norm = backend->norm();
  const bool relu = GENERATE(true, false);
  const bool has_weight = GENERATE(true, false), has_bias = GENERATE(true, false);
  const DType f64 = DType::kF64;
  const Tensor x = RandomTensor({11, 4}, 1, f64);
  const Tensor dy = RandomTensor({11, 4}, 2, f64);
  const Tensor weight =
      has_weight ? MakeTensor<double>({4}, {0.7, -0.9, 1.3, -0.2}, f64) : Tensor();
  const Tensor bias = has_bias ? RandomTensor({4}, 4, f64) : Tensor();
  const Tensor y = Uninitialized({11, 4}, f64);
  const Tensor mean = Uninitialized({4}, f64);
  const Tensor rstd = Uninitialized({4}, f64);
  const Tensor scratch = testing::ScratchOf(norm.BatchScratch(x));
  const auto loss = [&] {
    norm.BatchForward(x, weight, bias, kEpsilon, relu, y, mean, rstd, scratch.raw());
    return testing::Dot(y, dy);
  };
  loss();
  const Tensor dx = Uninitialized({11, 4}, f64);
  const Tensor dweight = Uninitialized({4}, f64);
  const Tensor dbias = Uninitialized({4}, f64);
  norm.BatchBackward(dy, x, mean, rstd, weight, bias, relu, dx, dweight, dbias, false,
                     scratch.raw());
  CHECK(testing::RelativeError(dx, testing::NumericGradient(loss, x)) < 1e-7);
  if (weight) CHECK(testing::RelativeError(dweight, testing::NumericGradient(loss, weight)) < 1e-8);
  if (bias) CHECK(testing::RelativeError(dbias, testing::NumericGradient(loss, bias)) < 1e-8);
}

TEST_CASE("eigen batch norm keeps unbiased running statistics and uses them in inference") {
  const auto backend = MakeEigenBackend();
  auto& norm = backend->norm();
  const Tensor x = testing::MakeTensor<double>({4, 1}, {1, 2, 3, 6});  // mean 3, variance 3.5
  const Tensor y = Uninitialized({4, 1});
  const Tensor mean = Uninitialized({1});
  const Tensor rstd = Uninitialized({1});
  const Tensor scratch = testing::ScratchOf(norm.BatchScratch(x));
  norm.BatchForward(x, Tensor(), Tensor(), 1e-5, false, y, mean, rstd, scratch.raw());
  CHECK(testing::Value(mean) == Approx(3));
  CHECK(testing::Value(rstd) == Approx(1 / std::sqrt(3.5 + 1e-5)));
  const Tensor running_mean = testing::Full({1}, 1);
  const Tensor running_variance = testing::Full({1}, 2);
  norm.UpdateRunning(mean, rstd, 1e-5, 0.25, 4, running_mean, running_variance);
  CHECK(testing::Value(running_mean) == Approx(0.75 * 1 + 0.25 * 3));
  CHECK(testing::Value(running_variance) == Approx(0.75 * 2 + 0.25 * 3.5 * 4 / 3));
  norm.BatchInference(x, testing::Full({1}, 2), testing::Full({1}, -1), testing::Full({1}, 2),
                      testing::Full({1}, 4), 0, true, y);
  CHECK(testing::MaxError(y, std::vector<double>{0, 0, 0, 3}) < 1e-6);
  norm.UpdateRunning(mean, rstd, 1e-5, 1, 1, running_mean, running_variance);  // one row
  CHECK(testing::Value(running_variance) == Approx(3.5));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double lost : {nan, std::numeric_limits<double>::infinity(), -HUGE_VAL}) {
    norm.UpdateRunning(testing::Full({1}, lost), rstd, 1e-5, 0.5, 4, running_mean,
                       running_variance);
    norm.UpdateRunning(mean, testing::Full({1}, lost == lost ? 0 : nan), 1e-5, 0.5, 4, running_mean,
                       running_variance);
    CHECK(testing::Value(running_mean) == Approx(3));
    CHECK(testing::Value(running_variance) == Approx(3.5));
  }
}

TEST_CASE("eigen norms give the same bits on any number of threads") {
  const auto backend = MakeEigenBackend();
  auto& norm = backend->norm();
  const int before = ThreadCount();
  const GroupNormGeometry g = {.batch = 1, .size = 3000, .channels = 48, .groups = 8};
  const Tensor x = RandomTensor({1, 3000, 48}, 1);
  const Tensor dy = RandomTensor({1, 3000, 48}, 2);
  const Tensor rows = x.Reshape({3000, 48});
  std::vector<Tensor> outputs;
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    const Tensor y = Uninitialized({1, 3000, 48}), z = Uninitialized({3000, 48});
    const Tensor mean = Uninitialized({1, 8}), rstd = Uninitialized({1, 8});
    const Tensor means = Uninitialized({48}), rstds = Uninitialized({48});
    const Tensor dx = Uninitialized({1, 3000, 48});
    const Tensor dweight = Uninitialized({48}), dbias = Uninitialized({48});
    const Tensor scratch = testing::ScratchOf(norm.GroupBackwardScratch(g, DType::kF32));
    norm.GroupForward(g, x, Tensor(), Tensor(), 1e-5, y, mean, rstd);
    norm.GroupBackward(g, dy, x, mean, rstd, Tensor(), dx, dweight, dbias, false, scratch.raw());
    norm.BatchForward(rows, Tensor(), Tensor(), 1e-5, false, z, means, rstds, scratch.raw());
    outputs.insert(outputs.end(), {y, mean, rstd, dx, dweight, dbias, z, means, rstds});
  }
  SetThreadCount(before);
  for (std::size_t i = 0; i < 9; ++i) CHECK(testing::SameBits(outputs[i], outputs[i + 9]));
}

}  // namespace
}  // namespace frugal
