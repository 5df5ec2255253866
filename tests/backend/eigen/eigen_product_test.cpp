#include <cmath>

#include "sdk/backend/backend.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::RandomTensor;
using testing::Uninitialized;
using testing::Values;

struct Sizes {
  std::int64_t rows;
  std::int64_t inputs;
  std::int64_t outputs;
};

double ProductTolerance(DType dtype) { return dtype == DType::kF64 ? 1e-13 : 2e-6; }

std::vector<double> NaiveForward(const Sizes& s, const Tensor& x, const Tensor& weight,
                                 const Tensor& bias, const Tensor& residual) {
  const auto xs = Values(x);
  const auto ws = Values(weight);
  const auto bs =
      bias ? Values(bias) : std::vector<double>(static_cast<std::size_t>(s.outputs), 0.0);
  std::vector<double> y;
  for (std::int64_t m = 0; m < s.rows; ++m) {
    for (std::int64_t n = 0; n < s.outputs; ++n) {
      double sum = bs[static_cast<std::size_t>(n)];
      if (residual) sum += Values(residual)[static_cast<std::size_t>(m * s.outputs + n)];
      for (std::int64_t k = 0; k < s.inputs; ++k) {
        sum += xs[static_cast<std::size_t>(m * s.inputs + k)] *
               ws[static_cast<std::size_t>(n * s.inputs + k)];
      }
      y.push_back(sum);
    }
  }
  return y;
}

TEST_CASE("eigen linear forward equals the sum of products") {
  const auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const Sizes s = GENERATE(Sizes{1, 1, 1}, Sizes{3, 5, 2}, Sizes{70, 33, 9}, Sizes{2, 40, 67},
                           Sizes{0, 3, 2}, Sizes{4, 0, 3});
  const bool with_bias = GENERATE(true, false);
  const Tensor x = RandomTensor({s.rows, s.inputs}, 1, dtype);
  const Tensor weight = RandomTensor({s.outputs, s.inputs}, 2, dtype);
  const Tensor bias = with_bias ? RandomTensor({s.outputs}, 3, dtype) : Tensor();
  const Tensor residual = with_bias ? Tensor() : RandomTensor({s.rows, s.outputs}, 4, dtype);
  const Tensor y = Uninitialized({s.rows, s.outputs}, dtype);
  backend->product().LinearForward(x, weight, bias, residual, y, {}, nullptr);
  const auto expected = NaiveForward(s, x, weight, bias, residual);
  CHECK(testing::RelativeError(y, expected) < ProductTolerance(dtype));
}

TEST_CASE("eigen linear takes x of higher rank and fuses an activation") {
  const auto backend = MakeEigenBackend();
  const Tensor x = RandomTensor({2, 3, 4}, 1, DType::kF64);
  const Tensor weight = RandomTensor({5, 4}, 2, DType::kF64);
  const Tensor bias = RandomTensor({5}, 3, DType::kF64);
  const Tensor y = Uninitialized({2, 3, 5}, DType::kF64);
  backend->product().LinearForward(x, weight, bias, Tensor(), y, {Activation::kLeakyRelu, 0.25},
                                   nullptr);
  auto expected = NaiveForward({6, 4, 5}, x, weight, bias, Tensor());
  for (double& value : expected) value = value > 0 ? value : 0.25 * value;
  CHECK(testing::MaxError(y, expected) < 1e-14);
  CHECK(backend->product().FusesActivation(Activation::kRelu));
  CHECK_FALSE(backend->product().FusesActivation(Activation::kGelu));
}

TEST_CASE("eigen linear backward equals numeric derivatives") {
  const auto backend = MakeEigenBackend();
  auto& product = backend->product();
  const Tensor x = RandomTensor({19, 7}, 1, DType::kF64);
  const Tensor weight = RandomTensor({5, 7}, 2, DType::kF64);
  const Tensor bias = RandomTensor({5}, 3, DType::kF64);
  const Tensor dy = RandomTensor({19, 5}, 4, DType::kF64);
  const Tensor y = Uninitialized({19, 5}, DType::kF64);
  const auto loss = [&] {
    product.LinearForward(x, weight, bias, Tensor(), y, {}, nullptr);
    return testing::Dot(y, dy);
  };
  const Tensor dx = Uninitialized(x.shape(), DType::kF64);
  const Tensor dweight = Uninitialized(weight.shape(), DType::kF64);
  const Tensor dbias = Uninitialized(bias.shape(), DType::kF64);
  product.LinearBackwardData(dy, weight, dx, false, nullptr);
  product.LinearBackwardWeight(dy, x, dweight, dbias, false, nullptr);
  const auto numeric_dx = testing::NumericGradient(loss, x);
  const auto numeric_dweight = testing::NumericGradient(loss, weight);
  const auto numeric_dbias = testing::NumericGradient(loss, bias);
  CHECK(testing::RelativeError(dx, numeric_dx) < 1e-8);
  CHECK(testing::RelativeError(dweight, numeric_dweight) < 1e-8);
  CHECK(testing::RelativeError(dbias, numeric_dbias) < 1e-8);

  SECTION("accumulating doubles the gradients") {
    product.LinearBackwardData(dy, weight, dx, true, nullptr);
    product.LinearBackwardWeight(dy, x, dweight, dbias, true, nullptr);
    const auto doubled = [](std::vector<double> values) {
      for (double& value : values) value *= 2;
      return values;
    };
    CHECK(testing::RelativeError(dx, doubled(numeric_dx)) < 1e-8);
    CHECK(testing::RelativeError(dweight, doubled(numeric_dweight)) < 1e-8);
    CHECK(testing::RelativeError(dbias, doubled(numeric_dbias)) < 1e-8);
  }
}

// [rows, columns] -> [columns, rows]
Tensor Turned(const Tensor& matrix) {
  const Shape& shape = matrix.shape();
  const Tensor turned = Uninitialized({shape[1], shape[0]}, matrix.dtype());
  MakeEigenBackend()->elementwise().Permute(matrix, {1, 0}, turned);
  return turned;
}

TEST_CASE("eigen linear with a weight [in, out] is the same with the weight turned") {
  const auto backend = MakeEigenBackend();
  auto& product = backend->product();
  const DType f64 = DType::kF64;
  const Sizes s = GENERATE(Sizes{1, 1, 1}, Sizes{1, 7, 30}, Sizes{70, 33, 9}, Sizes{2, 40, 67},
                           Sizes{0, 3, 2}, Sizes{4, 0, 3});
  const Tensor x = RandomTensor({s.rows, s.inputs}, 1, f64);
  const Tensor weight = RandomTensor({s.outputs, s.inputs}, 2, f64);
  const LinearWeight turned(Turned(weight), WeightLayout::kInOut);
  CHECK(turned.inputs() == s.inputs);
  CHECK(turned.outputs() == s.outputs);
  const Tensor y = Uninitialized({s.rows, s.outputs}, f64);
  product.LinearForward(x, turned, Tensor(), Tensor(), y, {}, nullptr);
  CHECK(testing::RelativeError(y, NaiveForward(s, x, weight, Tensor(), Tensor())) < 1e-13);

  const Tensor dy = RandomTensor({s.rows, s.outputs}, 3, f64);
  for (const bool accumulate : {false, true}) {
    const auto start = [&](const Shape& shape) { return testing::Full(shape, accumulate, f64); };
    const Tensor dx = start(x.shape()), expected_dx = start(x.shape());
    product.LinearBackwardData(dy, turned, dx, accumulate, nullptr);
    product.LinearBackwardData(dy, weight, expected_dx, accumulate, nullptr);
    CHECK(testing::RelativeError(dx, expected_dx) < 1e-13);
    const Tensor dweight = start({s.inputs, s.outputs}), expected = start(weight.shape());
    const Tensor dbias = start({s.outputs}), expected_dbias = start({s.outputs});
    product.LinearBackwardWeight(dy, x, {dweight, WeightLayout::kInOut}, dbias, accumulate,
                                 nullptr);
    product.LinearBackwardWeight(dy, x, expected, expected_dbias, accumulate, nullptr);
    CHECK(testing::RelativeError(Turned(dweight), expected) < 1e-13);
    CHECK(testing::SameBits(dbias, expected_dbias));
  }
}

TEST_CASE("eigen weight gradient of no rows is zero") {
  const auto backend = MakeEigenBackend();
  const Tensor dweight = Uninitialized({3, 2});
  const Tensor dbias = Uninitialized({3});
  backend->product().LinearBackwardWeight(Uninitialized({0, 3}), Uninitialized({0, 2}), dweight,
                                          dbias, false, nullptr);
  CHECK(testing::MaxError(dweight, std::vector<double>(6, 0.0)) == 0);
  CHECK(testing::MaxError(dbias, std::vector<double>(3, 0.0)) == 0);
}

TEST_CASE("eigen products refuse other element types") {
  const auto backend = MakeEigenBackend();
  const Tensor x = testing::Full({2, 2}, 1, DType::kI32);
  CHECK_THROWS_AS(backend->product().LinearForward(x, x, Tensor(), Tensor(), x, {}, nullptr),
                  UsageError);
  CHECK(backend->Supports(DType::kF64));
  CHECK_FALSE(backend->Supports(DType::kBF16));
}

TEST_CASE("eigen linear gives the same bits on any number of threads") {
  const auto backend = MakeEigenBackend();
  const int before = ThreadCount();
  const Tensor x = RandomTensor({333, 65}, 1);
  const Tensor weight = RandomTensor({130, 65}, 2);
  const Tensor dy = RandomTensor({333, 130}, 3);
  std::vector<Tensor> outputs;
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    const Tensor y = Uninitialized({333, 130});
    const Tensor dweight = Uninitialized({130, 65});
    const Tensor dbias = Uninitialized({130});
    backend->product().LinearForward(x, weight, Tensor(), Tensor(), y, {}, nullptr);
    backend->product().LinearBackwardWeight(dy, x, dweight, dbias, false, nullptr);
    outputs.insert(outputs.end(), {y, dweight, dbias});
  }
  SetThreadCount(before);
  for (std::size_t i = 0; i < 3; ++i) CHECK(testing::SameBits(outputs[i], outputs[i + 3]));
}

}  // namespace
}  // namespace frugal
