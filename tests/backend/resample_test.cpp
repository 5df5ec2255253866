#include "sdk/backend/eigen/conv/resample.h"

#include <cmath>

#include "sdk/backend/backend.h"
#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::Uninitialized;
using testing::Values;

Shape Enlarged(const Shape& x, std::int64_t factor) {
  return {x[0], x[1] * factor, x[2] * factor, x[3]};
}

// Element (n, h, w, c), with h and w clamped into the image.
double At(const Tensor& x, const std::vector<double>& values, std::int64_t n, std::int64_t h,
          std::int64_t w, std::int64_t c) {
  const Shape& s = x.shape();
  h = std::clamp<std::int64_t>(h, 0, s[1] - 1);
  w = std::clamp<std::int64_t>(w, 0, s[2] - 1);
  return values[static_cast<std::size_t>(((n * s[1] + h) * s[2] + w) * s[3] + c)];
}

// Calls value(n, h, w, c) for every element of the shape.
template <class Value>
std::vector<double> Image(const Shape& shape, const Value& value) {
  std::vector<double> image;
  for (std::int64_t i = 0; i < shape.ElementCount(); ++i) {
    const std::int64_t pixel = i / shape[3];
    const std::int64_t row = pixel / shape[2];
    image.push_back(value(row / shape[1], row % shape[1], pixel % shape[2], i % shape[3]));
  }
  return image;
}

std::vector<double> Nearest(const Tensor& x, std::int64_t factor) {
  const std::vector<double> values = Values(x);
  return Image(Enlarged(x.shape(), factor), [&](auto n, auto h, auto w, auto c) {
    return At(x, values, n, h / factor, w / factor, c);
  });
}

// Linear between pixel centres along both axes; beyond the outermost centres, the edge.
std::vector<double> Bilinear(const Tensor& x, std::int64_t factor) {
  const std::vector<double> values = Values(x);
  const auto scale = static_cast<double>(factor);
  return Image(Enlarged(x.shape(), factor), [&](auto n, auto h, auto w, auto c) {
    const double y_place = (static_cast<double>(h) + 0.5) / scale - 0.5;
    const double x_place = (static_cast<double>(w) + 0.5) / scale - 0.5;
    const auto top = static_cast<std::int64_t>(std::floor(y_place));
    const auto left = static_cast<std::int64_t>(std::floor(x_place));
    const double down = y_place - std::floor(y_place);
    const double right = x_place - std::floor(x_place);
    return (1 - down) * ((1 - right) * At(x, values, n, top, left, c) +
                         right * At(x, values, n, top, left + 1, c)) +
           down * ((1 - right) * At(x, values, n, top + 1, left, c) +
                   right * At(x, values, n, top + 1, left + 1, c));
  });
}

std::vector<Shape> Sizes() {
  return {{1, 1, 1, 1}, {2, 3, 4, 5}, {1, 1, 6, 2},  {3, 5, 1, 1},
          {1, 2, 2, 3}, {0, 3, 3, 2}, {2, 33, 31, 9}};
}

TEST_CASE("eigen upsampling equals its formulas") {
  EigenResampleKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const std::int64_t factor = GENERATE(1, 2, 3, 4);
  for (const Shape& shape : Sizes()) {
    INFO(ToString(shape) << " by " << factor);
    const Tensor x = RandomTensor(shape, 1, dtype);
    const Tensor y = Uninitialized(Enlarged(shape, factor), dtype);
    kernels.NearestForward(factor, x, y);
    CHECK(Values(y) == Nearest(x, factor));
    kernels.BilinearForward(factor, x, y);
    CHECK(testing::MaxError(y, Bilinear(x, factor)) < (dtype == DType::kF64 ? 1e-14 : 1e-6));
  }
}

TEST_CASE("eigen upsampling by one copies") {
  EigenResampleKernels kernels;
  const Tensor x = RandomTensor({2, 5, 4, 3}, 1);
  const Tensor y = Uninitialized(x.shape());
  kernels.BilinearForward(1, x, y);
  CHECK(testing::SameBits(x, y));
  kernels.BilinearBackward(1, x, y);
  CHECK(testing::SameBits(x, y));
}

TEST_CASE("eigen upsampling backward equals numeric derivatives") {
  EigenResampleKernels kernels;
  const std::int64_t factor = GENERATE(1, 2, 3);
  const bool bilinear = GENERATE(false, true);
  for (const Shape& shape : {Shape{2, 3, 4, 2}, Shape{1, 1, 1, 1}, Shape{1, 1, 5, 1}}) {
    INFO(ToString(shape) << " by " << factor);
    const Tensor x = RandomTensor(shape, 1, DType::kF64);
    const Tensor dy = RandomTensor(Enlarged(shape, factor), 2, DType::kF64);
    const Tensor y = Uninitialized(dy.shape(), DType::kF64);
    const Tensor dx = Uninitialized(shape, DType::kF64);
    const auto loss = [&] {
      bilinear ? kernels.BilinearForward(factor, x, y) : kernels.NearestForward(factor, x, y);
      return testing::Dot(y, dy);
    };
    bilinear ? kernels.BilinearBackward(factor, dy, dx) : kernels.NearestBackward(factor, dy, dx);
    CHECK(testing::RelativeError(dx, testing::NumericGradient(loss, x)) < 1e-8);
  }
}

TEST_CASE("eigen upsampling gives the same bits on any number of threads") {
  EigenResampleKernels kernels;
  const int before = ThreadCount();
  const Tensor x = RandomTensor({2, 40, 50, 7}, 1);
  const Tensor dy = RandomTensor({2, 80, 100, 7}, 2);
  std::vector<Tensor> forward, backward;
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    forward.push_back(Uninitialized(dy.shape()));
    backward.push_back(Uninitialized(x.shape()));
    kernels.BilinearForward(2, x, forward.back());
    kernels.BilinearBackward(2, dy, backward.back());
  }
  SetThreadCount(before);
  CHECK(testing::SameBits(forward[0], forward[1]));
  CHECK(testing::SameBits(backward[0], backward[1]));
}

TEST_CASE("eigen upsampling refuses integers") {
  EigenResampleKernels kernels;
  const Tensor x = testing::Full({1, 1, 1, 1}, 1, DType::kI64);
  CHECK_THROWS_AS(kernels.NearestForward(1, x, x), UsageError);
  CHECK_THROWS_AS(kernels.BilinearBackward(1, x, x), UsageError);
}

// [N, C, H, W] of the file as [N, H, W, C].
Tensor ReadImage(const WeightSource& source, const std::string& name) {
  const Shape s = source.Find(name)->shape;
  std::vector<double> values(static_cast<std::size_t>(s.ElementCount()));
  source.ReadAsF64(name, values);
  const Shape last{s[0], s[2], s[3], s[1]};
  const auto turned = Image(last, [&](auto n, auto h, auto w, auto c) {
    return values[static_cast<std::size_t>(((n * s[1] + c) * s[2] + h) * s[3] + w)];
  });
  return MakeTensor(last, turned, DType::kF64);
}

TEST_CASE("eigen upsampling agrees with PyTorch", "[oracles]") {
  EigenResampleKernels kernels;
  const bool bilinear = GENERATE(false, true);
  const std::string name = bilinear ? "upsample_bilinear2d" : "upsample_nearest2d";
  const auto source =
      OpenWeights(std::string(FRUGAL_TEST_DATA) + "/oracles/ops/" + name + ".safetensors");
  const Tensor x = ReadImage(*source, "0/in/input");
  const Tensor dy = ReadImage(*source, "0/upstream");
  const Tensor y = Uninitialized(dy.shape(), DType::kF64);
  const Tensor dx = Uninitialized(x.shape(), DType::kF64);
  bilinear ? kernels.BilinearForward(2, x, y) : kernels.NearestForward(2, x, y);
  bilinear ? kernels.BilinearBackward(2, dy, dx) : kernels.NearestBackward(2, dy, dx);
  CHECK(testing::RelativeError(y, ReadImage(*source, "0/out")) < 1e-6);
  CHECK(testing::RelativeError(dx, ReadImage(*source, "0/grad/input")) < 1e-6);
}

}  // namespace
}  // namespace frugal
