#include "sdk/backend/eigen/array/array.h"

#include <cmath>
#include <functional>
#include <string>

#include "sdk/backend/backend.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::SameBits;
using testing::Uninitialized;
using testing::Values;

double Tolerance(DType dtype) { return dtype == DType::kF64 ? 1e-13 : 1e-5; }

// Calls body(index) for every index of the shape in row-major order.
void ForEachIndex(const Shape& shape, const std::function<void(const Shape&)>& body) {
  Shape index = shape;
  for (std::int64_t flat = 0; flat < shape.ElementCount(); ++flat) {
    std::int64_t rest = flat;
    for (std::size_t i = shape.rank(); i-- > 0; rest /= shape[i]) index[i] = rest % shape[i];
    body(index);
  }
}

// The flat place of `index` in `shape`, where an extent of 1 is repeated.
std::size_t Place(const Shape& shape, const Shape& index) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    place = place * shape[i] + (shape[i] == 1 ? 0 : index[i]);
  }
  return static_cast<std::size_t>(place);
}

std::size_t Place(const StridedView& box, const Shape& index) {
  std::int64_t place = box.offset;
  for (std::size_t i = 0; i < index.rank(); ++i) place += index[i] * box.strides[i];
  return static_cast<std::size_t>(place);
}

struct BoxCase {
  Shape extents;
  Shape from;
  StridedView from_box;
  Shape to;
  StridedView to_box;
};

// Boxes that each stand for a use: the names are those of the operations.
std::vector<std::pair<std::string, BoxCase>> BoxCases() {
  return {
      {"rank 0", {{}, {3}, {1, {}}, {3}, {2, {}}}},
      {"whole", {{3, 70}, {3, 70}, {0, {70, 1}}, {3, 70}, {0, {70, 1}}}},
      {"one long run", {{50000}, {50000}, {0, {1}}, {50001}, {1, {1}}}},
      {"concatenation", {{5, 3, 4}, {5, 3, 4}, {0, {12, 4, 1}}, {5, 7, 4}, {8, {28, 4, 1}}}},
      {"slice with steps", {{4, 5}, {9, 16}, {17, {32, 3}}, {4, 5}, {0, {5, 1}}}},
      {"reversed", {{4, 5}, {4, 5}, {19, {-5, -1}}, {4, 5}, {0, {5, 1}}}},
      {"transposed", {{70, 45}, {45, 70}, {0, {1, 70}}, {70, 45}, {0, {45, 1}}}},
      {"to channels last",
       {{2, 3, 5, 7}, {2, 3, 5, 7}, {0, {105, 35, 7, 1}}, {2, 5, 7, 3}, {0, {105, 1, 21, 3}}}},
      {"heads",
       {{2, 6, 3, 4}, {2, 6, 36}, {12, {216, 36, 4, 1}}, {2, 3, 6, 4}, {0, {72, 4, 24, 1}}}},
      {"all axes turned",
       {{2, 3, 2, 3, 2, 3, 2, 2},
        {2, 2, 3, 2, 3, 2, 3, 2},
        {0, {1, 2, 6, 12, 36, 72, 216, 432}},
        {2, 3, 2, 3, 2, 3, 2, 2},
        {0, {432, 144, 72, 24, 12, 4, 2, 1}}}},
      {"repeated rows", {{4, 6}, {6}, {0, {0, 1}}, {4, 6}, {0, {6, 1}}}},
      {"repeated elements", {{6, 40}, {6}, {0, {1, 0}}, {6, 40}, {0, {40, 1}}}},
      {"into a column", {{9}, {9}, {0, {1}}, {9, 3}, {2, {3}}}},
      {"nothing", {{3, 0, 2}, {1}, {0, {1, 1, 1}}, {1}, {0, {1, 1, 1}}}},
      {"extents of one", {{1, 5, 1}, {5}, {0, {77, 1, 88}}, {5}, {0, {99, 1, 66}}}},
  };
}

TEST_CASE("eigen copy box moves every element of the box and no other") {
  EigenArrayKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kU8);
  for (const auto& [name, c] : BoxCases()) {
    INFO(name);
    const Tensor from = RandomTensor(c.from, 1, dtype, 0, 100);
    const Tensor to = RandomTensor(c.to, 2, dtype, 0, 100);
    const std::vector<double> source = Values(from);
    std::vector<double> expected = Values(to);
    ForEachIndex(c.extents, [&, &box = c](const Shape& index) {
      expected[Place(box.to_box, index)] = source[Place(box.from_box, index)];
    });
    kernels.CopyStrided(c.extents, from, c.from_box, to, c.to_box, false);
    CHECK(Values(to) == expected);
  }
}

TEST_CASE("eigen copy box adds with accumulate") {
  EigenArrayKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  for (const auto& [name, c] : BoxCases()) {
    INFO(name);
    const Tensor from = RandomTensor(c.from, 1, dtype);
    const Tensor to = RandomTensor(c.to, 2, dtype);
    const std::vector<double> source = Values(from);
    std::vector<double> expected = Values(to);
    ForEachIndex(c.extents, [&, &box = c](const Shape& index) {
      expected[Place(box.to_box, index)] += source[Place(box.from_box, index)];
    });
    kernels.CopyStrided(c.extents, from, c.from_box, to, c.to_box, true);
    CHECK(testing::MaxError(to, expected) < Tolerance(dtype));
  }
  const Tensor integers = testing::Full({2}, 1, DType::kI64);
  CHECK_THROWS_AS(kernels.CopyStrided({2}, integers, {0, {1}}, integers, {0, {1}}, true),
                  UsageError);
}

double Apply(BinaryKind kind, double a, double b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSubtract:
      return a - b;
    case BinaryKind::kMultiply:
      return a * b;
    case BinaryKind::kDivide:
      return a / b;
    case BinaryKind::kGreater:
      return a > b ? 1 : 0;
  }
  return 0;
}

struct BinaryCase {
  Shape a;
  Shape b;
  Shape y;
};

TEST_CASE("eigen binary arithmetic repeats extents of one") {
  EigenArrayKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const auto kind = GENERATE(BinaryKind::kAdd, BinaryKind::kSubtract, BinaryKind::kMultiply,
                             BinaryKind::kDivide, BinaryKind::kGreater);
  const double low = kind == BinaryKind::kGreater ? -1 : 1;
  const std::vector<BinaryCase> cases = {
      {{}, {}, {}},
      {{1}, {1}, {1}},
      {{40000}, {40000}, {40000}},
      {{40000}, {1}, {40000}},
      {{1, 1}, {30, 70}, {30, 70}},
      {{30, 1}, {30, 70}, {30, 70}},
      {{30, 70}, {1, 70}, {30, 70}},
      {{30, 1}, {1, 70}, {30, 70}},
      {{1, 1}, {1, 1}, {3, 4}},
      {{2, 1, 5, 1}, {1, 3, 1, 7}, {2, 3, 5, 7}},
      {{2, 0, 5}, {2, 1, 1}, {2, 0, 5}},
      {{2, 1, 2, 1, 2, 1, 2, 3}, {1, 3, 2, 1, 1, 2, 2, 1}, {2, 3, 2, 1, 2, 2, 2, 3}}};
  for (const BinaryCase& c : cases) {
    INFO(ToString(c.a) << " with " << ToString(c.b));
    const Tensor a = RandomTensor(c.a, 1, dtype);
    const Tensor b = RandomTensor(c.b, 2, dtype, low, low + 1);
    const Tensor y = Uninitialized(c.y, dtype);
    const std::vector<double> left = Values(a);
    const std::vector<double> right = Values(b);
    std::vector<double> expected;
    ForEachIndex(c.y, [&](const Shape& index) {
      expected.push_back(Apply(kind, left[Place(c.a, index)], right[Place(c.b, index)]));
    });
    kernels.Binary(kind, a, b, y);
    CHECK(testing::MaxError(y, expected) < Tolerance(dtype));
  }
}

TEST_CASE("eigen binary arithmetic may write over an operand") {
  EigenArrayKernels kernels;
  const Tensor a = MakeTensor<double>({2, 2}, {1, 2, 3, 4});
  const Tensor b = MakeTensor<double>({1, 2}, {10, 20});
  kernels.Binary(BinaryKind::kSubtract, a, b, a);
  CHECK(Values(a) == std::vector<double>{-9, -18, -7, -16});
  kernels.Binary(BinaryKind::kMultiply, a, a, a);
  CHECK(Values(a) == std::vector<double>{81, 324, 49, 256});
  const Tensor integers = testing::Full({2}, 1, DType::kI64);
  CHECK_THROWS_AS(kernels.Binary(BinaryKind::kAdd, integers, integers, integers), UsageError);
}

TEST_CASE("eigen sum to adds over the axes that become one") {
  EigenArrayKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{}, {}},
      {{1, 1}, {1, 1}},
      {{7, 5}, {7, 5}},
      {{70000}, {1}},
      {{7, 300}, {7, 1}},
      {{3, 40000}, {3, 1}},
      {{7, 300}, {1, 300}},
      {{30000, 3}, {1, 3}},
      {{2, 3000, 200}, {2, 1, 200}},
      {{2, 3000, 200}, {1, 3000, 1}},
      {{300, 2, 101}, {1, 2, 1}},
      {{3, 5, 6, 7}, {1, 5, 1, 7}},
      {{3, 5, 6, 7}, {3, 1, 6, 1}},
      {{3, 1, 6, 1}, {1, 1, 6, 1}},
      {{2, 3, 2, 3, 2, 3, 2, 3}, {1, 3, 2, 1, 1, 3, 1, 3}},
      {{2, 3, 2, 3, 2, 3, 2, 3}, {1, 3, 1, 3, 2, 1, 2, 1}}};
  for (const auto& [from, to] : cases) {
    INFO(ToString(from) << " to " << ToString(to));
    const Tensor x = RandomTensor(from, 1, dtype);
    const Tensor y = Uninitialized(to, dtype);
    const std::vector<double> values = Values(x);
    std::vector<double> expected(static_cast<std::size_t>(to.ElementCount()));
    ForEachIndex(from, [&, &source = from, &target = to](const Shape& index) {
      expected[Place(target, index)] += 0.5 * values[Place(source, index)];
    });
    kernels.SumTo(x, 0.5, y);
    CHECK(testing::RelativeError(y, expected) < Tolerance(dtype));
  }
}

TEST_CASE("eigen sum of nothing is zero and its mean is not a number") {
  EigenArrayKernels kernels;
  const Tensor y = Uninitialized({1, 3});
  kernels.SumTo(Uninitialized({0, 3}), 2, y);
  CHECK(Values(y) == std::vector<double>{0, 0, 0});
  kernels.SumTo(Uninitialized({0, 3}), std::numeric_limits<double>::infinity(), y);
  CHECK(std::isnan(testing::Value(y, 2)));
  kernels.SumTo(Uninitialized({4, 0}), 1, Uninitialized({1, 0}));
}

struct ProductCase {
  Shape a;  // without transposition
  Shape b;
  Shape y;
};

std::vector<ProductCase> ProductCases() {
  return {{{1, 1}, {1, 1}, {1, 1}},
          {{3, 4}, {4, 5}, {3, 5}},
          {{100, 33}, {33, 70}, {100, 70}},
          {{40, 33}, {33, 300}, {40, 300}},
          {{3, 5, 4}, {3, 4, 6}, {3, 5, 6}},
          {{3, 5, 4}, {1, 4, 6}, {3, 5, 6}},
          {{1, 5, 4}, {3, 4, 6}, {3, 5, 6}},
          {{40, 9, 8}, {40, 8, 7}, {40, 9, 7}},
          {{2, 1, 5, 4}, {1, 3, 4, 6}, {2, 3, 5, 6}},
          {{2, 3, 2, 1, 2, 1, 3, 2}, {1, 3, 2, 2, 2, 1, 2, 3}, {2, 3, 2, 2, 2, 1, 3, 3}},
          {{3, 5, 0}, {3, 0, 6}, {3, 5, 6}},
          {{0, 5, 4}, {1, 4, 6}, {0, 5, 6}},
          {{2, 0, 4}, {2, 4, 6}, {2, 0, 6}}};
}

Shape WithLastTwoTurned(Shape shape, bool turned) {
  if (turned) std::swap(shape[shape.rank() - 1], shape[shape.rank() - 2]);
  return shape;
}

// The element (row, column) of the matrix that `index` points into.
double MatrixElement(const Tensor& tensor, const std::vector<double>& values, Shape index,
                     std::int64_t row, std::int64_t column, bool transposed) {
  const std::size_t rank = index.rank();
  index[rank - 2] = transposed ? column : row;
  index[rank - 1] = transposed ? row : column;
  return values[Place(tensor.shape(), index)];
}

TEST_CASE("eigen batched product equals its sums") {
  EigenArrayKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const bool transpose_a = GENERATE(false, true);
  const bool transpose_b = GENERATE(false, true);
  for (const ProductCase& c : ProductCases()) {
    INFO(ToString(c.a) << " by " << ToString(c.b) << ", " << transpose_a << transpose_b);
    const Tensor a = RandomTensor(WithLastTwoTurned(c.a, transpose_a), 1, dtype);
    const Tensor b = RandomTensor(WithLastTwoTurned(c.b, transpose_b), 2, dtype);
    const Tensor y = Uninitialized(c.y, dtype);
    const std::vector<double> left = Values(a);
    const std::vector<double> right = Values(b);
    std::vector<double> expected;
    ForEachIndex(c.y, [&](const Shape& index) {
      double sum = 0;
      for (std::int64_t k = 0; k < c.a.back(); ++k) {
        sum += MatrixElement(a, left, index, index[index.rank() - 2], k, transpose_a) *
               MatrixElement(b, right, index, k, index.back(), transpose_b);
      }
      expected.push_back(sum);
    });
    kernels.BatchedProduct(a, transpose_a, b, transpose_b, y);
    CHECK(testing::MaxError(y, expected) < 10 * Tolerance(dtype));
  }
}

// dx = the sum of dy over what was repeated: the backward of arithmetic and products by ops.
TEST_CASE("eigen array kernels are each other's derivatives") {
  EigenArrayKernels kernels;
  const DType f64 = DType::kF64;
  const Tensor a = RandomTensor({3, 4, 5}, 1, f64);
  const Tensor b = RandomTensor({1, 5, 2}, 2, f64);
  const Tensor dy = RandomTensor({3, 4, 2}, 3, f64);
  const Tensor y = Uninitialized({3, 4, 2}, f64);
  const auto loss = [&] {
    kernels.BatchedProduct(a, false, b, false, y);
    return testing::Dot(y, dy);
  };
  const Tensor da = Uninitialized({3, 4, 5}, f64);
  kernels.BatchedProduct(dy, false, b, true, da);
  CHECK(testing::RelativeError(da, testing::NumericGradient(loss, a)) < 1e-8);
  const Tensor every_db = Uninitialized({3, 5, 2}, f64);
  const Tensor db = Uninitialized({1, 5, 2}, f64);
  kernels.BatchedProduct(a, true, dy, false, every_db);
  kernels.SumTo(every_db, 1, db);
  CHECK(testing::RelativeError(db, testing::NumericGradient(loss, b)) < 1e-8);
}

TEST_CASE("eigen array kernels give the same bits on any number of threads") {
  EigenArrayKernels kernels;
  const int before = ThreadCount();
  const Tensor x = RandomTensor({3, 20000, 37}, 1);
  const Tensor scale = RandomTensor({1, 20000, 1}, 2);
  const Tensor matrix = RandomTensor({1, 37, 50}, 3);
  std::vector<std::vector<Tensor>> results;
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    std::vector<Tensor> made = {Uninitialized({3, 20000, 37}), Uninitialized({1, 1, 1}),
                                Uninitialized({1, 1, 37}), Uninitialized({1, 20000, 1}),
                                Uninitialized({3, 20000, 50})};
    kernels.Binary(BinaryKind::kMultiply, x, scale, made[0]);
    for (std::size_t i = 1; i <= 3; ++i) kernels.SumTo(x, 1, made[i]);
    kernels.BatchedProduct(x, false, matrix, false, made[4]);
    results.push_back(made);
  }
  SetThreadCount(before);
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    INFO(i);
    CHECK(SameBits(results[0][i], results[1][i]));
  }
}

}  // namespace
}  // namespace frugal
