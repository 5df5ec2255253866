#include "sdk/backend/backend.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::Uninitialized;
using testing::Values;

PoolGeometry Image(std::int64_t batch, Spatial input, Spatial output, std::int64_t channels) {
  PoolGeometry g;
  g.window.batch = batch;
  g.window.input = input;
  g.window.output = output;
  g.channels = channels;
  return g;
}

PoolGeometry Padded() {  // [2, 7, 6, 5], kernel 3 x 2, stride 2 x 1, padding 1
  PoolGeometry g = Image(2, {1, 7, 6}, {1, 4, 7}, 5);
  g.window.kernel = {1, 3, 2};
  g.window.stride = {1, 2, 1};
  g.window.padding_begin = {0, 1, 1};
  g.window.padding_end = {0, 1, 1};
  return g;
}

Shape InputShape(const PoolGeometry& g) {
  return {g.window.batch, g.window.input[1], g.window.input[2], g.channels};
}
Shape OutputShape(const PoolGeometry& g) {
  return {g.window.batch, g.window.output[1], g.window.output[2], g.channels};
}

struct NaivePool {
  std::vector<double> max;
  std::vector<double> average;  // with padding
  std::vector<double> inner;    // without padding
};

NaivePool Compute(const PoolGeometry& g, const Tensor& x) {
  const auto& w = g.window;
  const auto xs = Values(x);
  NaivePool naive;
  for (std::int64_t i = 0; i < w.batch * w.output[1] * w.output[2] * g.channels; ++i) {
    const std::int64_t c = i % g.channels;
    const std::int64_t column = i / g.channels % w.output[2];
    const std::int64_t row = i / g.channels / w.output[2] % w.output[1];
    const std::int64_t n = i / g.channels / w.output[2] / w.output[1];
    double largest = -1e30;
    double sum = 0;
    double count = 0;
    for (std::int64_t k = 0; k < w.kernel[1] * w.kernel[2]; ++k) {
      const std::int64_t h = row * w.stride[1] - w.padding_begin[1] + k / w.kernel[2];
      const std::int64_t v = column * w.stride[2] - w.padding_begin[2] + k % w.kernel[2];
      if (h < 0 || h >= w.input[1] || v < 0 || v >= w.input[2]) continue;
      const double value =
          xs[static_cast<std::size_t>(((n * w.input[1] + h) * w.input[2] + v) * g.channels + c)];
      largest = std::max(largest, value);
      sum += value;
      ++count;
    }
    naive.max.push_back(largest);
    naive.average.push_back(sum / static_cast<double>(w.KernelSize()));
    naive.inner.push_back(sum / count);
  }
  return naive;
}

TEST_CASE("eigen pooling with stride and padding equals plain loops") {
  const auto backend = MakeEigenBackend();
  auto& pool = backend->pool();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  PoolGeometry g = Padded();
  const Tensor x = RandomTensor(InputShape(g), 1, dtype);
  const NaivePool naive = Compute(g, x);
  const Tensor y = Uninitialized(OutputShape(g), dtype);
  const Tensor index = testing::ScratchOf(pool.MaxIndexBytes(g, dtype));

  pool.MaxForward(g, x, y, index, nullptr);
  CHECK(testing::MaxError(y, naive.max) == 0);
  pool.MaxForward(g, x, y, Tensor(), nullptr);
  CHECK(testing::MaxError(y, naive.max) == 0);
  pool.AverageForward(g, x, y, nullptr);
  CHECK(testing::MaxError(y, naive.average) < 1e-6);
  g.count_padding = false;
  pool.AverageForward(g, x, y, nullptr);
  CHECK(testing::MaxError(y, naive.inner) < 1e-6);
}

TEST_CASE("eigen pooling backward equals numeric derivatives") {
  const auto backend = MakeEigenBackend();
  auto& pool = backend->pool();
  PoolGeometry g = Padded();
  g.count_padding = GENERATE(true, false);
  const Tensor x = RandomTensor(InputShape(g), 1, DType::kF64);
  const Tensor dy = RandomTensor(OutputShape(g), 2, DType::kF64);
  const Tensor y = Uninitialized(OutputShape(g), DType::kF64);
  const Tensor dx = Uninitialized(InputShape(g), DType::kF64);
  const Tensor index = testing::ScratchOf(pool.MaxIndexBytes(g, DType::kF64));

  pool.MaxForward(g, x, y, index, nullptr);
  pool.MaxBackward(g, dy, index, dx, nullptr);
  const auto max_gradient = testing::NumericGradient(
      [&] {
        pool.MaxForward(g, x, y, index, nullptr);
        return testing::Dot(y, dy);
      },
      x, 1e-7);
  CHECK(testing::RelativeError(dx, max_gradient) < 1e-6);

  pool.AverageBackward(g, dy, dx, nullptr);
  const auto average_gradient = testing::NumericGradient(
      [&] {
        pool.AverageForward(g, x, y, nullptr);
        return testing::Dot(y, dy);
      },
      x);
  CHECK(testing::RelativeError(dx, average_gradient) < 1e-8);
}

TEST_CASE("eigen adaptive pooling averages uneven windows") {
  const auto backend = MakeEigenBackend();
  auto& pool = backend->pool();
  // 5 -> 3: [0, 2), [1, 4), [3, 5)
  const PoolGeometry g = Image(1, {1, 1, 5}, {1, 1, 3}, 1);
  const Tensor x = MakeTensor<double>({1, 1, 5, 1}, {1, 2, 4, 8, 16});
  const Tensor y = Uninitialized({1, 1, 3, 1});
  pool.AdaptiveForward(g, x, y);
  CHECK(testing::MaxError(y, std::vector<double>{1.5, 14.0 / 3, 12}) < 1e-6);

  const PoolGeometry wide = Image(2, {1, 5, 7}, {1, 3, 9}, 3);  // also more outputs than inputs
  const Tensor input = RandomTensor(InputShape(wide), 1, DType::kF64);
  const Tensor dy = RandomTensor(OutputShape(wide), 2, DType::kF64);
  const Tensor output = Uninitialized(OutputShape(wide), DType::kF64);
  const Tensor dx = Uninitialized(InputShape(wide), DType::kF64);
  pool.AdaptiveBackward(wide, dy, dx);
  const auto gradient = testing::NumericGradient(
      [&] {
        pool.AdaptiveForward(wide, input, output);
        return testing::Dot(output, dy);
      },
      input);
  CHECK(testing::RelativeError(dx, gradient) < 1e-8);
}

TEST_CASE("eigen max pooling takes the first of equals, passes NaN on, and knows minus infinity") {
  const auto backend = MakeEigenBackend();
  auto& pool = backend->pool();
  PoolGeometry g = Image(1, {1, 1, 6}, {1, 1, 3}, 1);
  g.window.kernel = {1, 1, 2};
  g.window.stride = {1, 1, 2};
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = MakeTensor<double>({1, 1, 6, 1}, {3, 3, nan, 1, -infinity, -infinity});
  const Tensor y = Uninitialized({1, 1, 3, 1});
  const Tensor index = testing::ScratchOf(pool.MaxIndexBytes(g, DType::kF32));
  pool.MaxForward(g, x, y, index, nullptr);
  CHECK(testing::Value(y, 0) == 3);
  CHECK(std::isnan(testing::Value(y, 1)));
  CHECK(testing::Value(y, 2) == -infinity);
  const Tensor dx = Uninitialized({1, 1, 6, 1});
  pool.MaxBackward(g, MakeTensor<double>({1, 1, 3, 1}, {1, 2, 3}), index, dx, nullptr);
  CHECK(Values(dx) == std::vector<double>{1, 0, 2, 0, 3, 0});
}

TEST_CASE("eigen pooling of many channels and of three axes") {
  const auto backend = MakeEigenBackend();
  auto& pool = backend->pool();
  PoolGeometry g = Image(1, {2, 2, 2}, {1, 1, 1}, 300);
  g.window.kernel = {2, 2, 2};
  const Tensor x = RandomTensor({1, 8, 300}, 1);
  const Tensor y = Uninitialized({1, 300});
  const Tensor index = testing::ScratchOf(pool.MaxIndexBytes(g, DType::kF32));
  pool.MaxForward(g, x, y, index, nullptr);
  const auto xs = Values(x);
  std::vector<double> expected(300, -1e30);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    expected[i % 300] = std::max(expected[i % 300], xs[i]);
  }
  CHECK(testing::MaxError(y, expected) == 0);
  const Tensor dx = Uninitialized({1, 8, 300});
  pool.MaxBackward(g, y, index, dx, nullptr);
  const auto gradients = Values(dx);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double largest = expected[i % 300];
    CHECK(gradients[i] == (xs[i] == largest ? largest : 0));  // dy is y
  }
  CHECK(testing::Dot(dx, x) == Approx(testing::Dot(y, y)));
}

}  // namespace
}  // namespace frugal
