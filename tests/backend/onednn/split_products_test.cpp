// Products of f32 as sums of three of bf16: beside the reference, and to the bit on any number of
// threads. They are skipped where the processor has no matrix tiles.
#include "sdk/backend/onednn/matmul/split_products.h"

#include <cmath>
#include <limits>

#include "sdk/backend/onednn/matmul/split_gemm.h"
#include "sdk/core/threads.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

// Sixteen digits of each factor are kept, of 24.
constexpr double kSplit = 1e-5;
constexpr WeightLayout kLayouts[] = {WeightLayout::kOutIn, WeightLayout::kInOut};

struct Sizes {
  std::int64_t rows, inputs, outputs;
};

struct Results {
  Tensor y, dx, dweight, dbias;
};

struct Case {
  Tensor x, dy, bias, residual;
  LinearWeight weight;
  LinearEpilogue epilogue{};
  bool accumulate = false;
};

Case CaseOf(Dice& dice, const Sizes& s, WeightLayout layout) {
  const Shape shape =
      layout == WeightLayout::kOutIn ? Shape{s.outputs, s.inputs} : Shape{s.inputs, s.outputs};
  return {.x = RandomTensor({s.rows, s.inputs}, dice.Seed()),
          .dy = RandomTensor({s.rows, s.outputs}, dice.Seed()),
          .bias = dice.Flip() ? RandomTensor({s.outputs}, dice.Seed()) : Tensor(),
          .residual = dice.Flip() ? RandomTensor({s.rows, s.outputs}, dice.Seed()) : Tensor(),
          .weight = {RandomTensor(shape, dice.Seed()), layout},
          .epilogue = {dice.Flip() ? Activation::kRelu : Activation::kIdentity, 0},
          .accumulate = dice.Flip()};
}

Results Run(Backend& backend, const Case& c) {
  ProductKernels& product = backend.product();
  const double before = c.accumulate ? 0.5 : NAN;
  Results r{Full(c.dy.shape(), NAN), Full(c.x.shape(), before),
            Full(c.weight.tensor.shape(), before), Full({c.weight.outputs()}, before)};
  const Scratch forward(product.LinearForwardScratch(c.x, c.weight));
  product.LinearForward(c.x, c.weight, c.bias, c.residual, r.y, c.epilogue, forward.get());
  const Scratch data(product.LinearBackwardDataScratch(c.dy, c.weight));
  product.LinearBackwardData(c.dy, c.weight, r.dx, c.accumulate, data.get());
  const Scratch weights(product.LinearBackwardWeightScratch(c.dy, c.x, c.accumulate));
  product.LinearBackwardWeight(c.dy, c.x, {r.dweight, c.weight.layout}, r.dbias, c.accumulate,
                               weights.get());
  for (const Scratch* scratch : {&forward, &data, &weights}) CHECK(scratch->GuardIsIntact());
  return r;
}

TEST_CASE("split products agree with the reference at random sizes", "[needs-tiles]") {
  FRUGAL_SKIP_UNLESS(HasSplitProducts(), "no matrix tiles");
  const auto split = MakeOneDnnBackend(F32Products::kSplit), reference = MakeEigenBackend();
  Dice dice(1);
  const auto size = [&] { return dice.Flip() ? dice.Between(60, 200) : dice.Between(200, 420); };
  for (int round = 0; round < 40; ++round) {
    const Sizes s = {size(), size(), size()};
    const Case c = CaseOf(dice, s, kLayouts[round % 2]);
    CAPTURE(s.rows, s.inputs, s.outputs, round % 2, bool(c.bias), bool(c.residual), c.accumulate);
    const Results expected = Run(*reference, c), actual = Run(*split, c);
    CHECK(RelativeError(actual.y, expected.y) < kSplit);
    CHECK(RelativeError(actual.dx, expected.dx) < kSplit);
    CHECK(RelativeError(actual.dweight, expected.dweight) < kSplit);
    CHECK(RelativeError(actual.dbias, expected.dbias) < kSplit);
  }
}

TEST_CASE("split products of more than one part of rows, columns and depth are right",
          "[needs-tiles]") {
  FRUGAL_SKIP_UNLESS(HasSplitProducts(), "no matrix tiles");
  const auto split = MakeOneDnnBackend(F32Products::kSplit), reference = MakeEigenBackend();
  Dice dice(2);
  for (const WeightLayout layout : kLayouts) {
    const Case c = CaseOf(dice, {300, 333, 2100}, layout);
    const Results expected = Run(*reference, c), actual = Run(*split, c);
    CHECK(RelativeError(actual.y, expected.y) < kSplit);
    CHECK(RelativeError(actual.dx, expected.dx) < kSplit);
    CHECK(RelativeError(actual.dweight, expected.dweight) < kSplit);
  }
}

TEST_CASE("split products have the same bits on any number of threads, and are not f32's",
          "[needs-tiles]") {
  FRUGAL_SKIP_UNLESS(HasSplitProducts(), "no matrix tiles");
  const auto split = MakeOneDnnBackend(F32Products::kSplit), exact = MakeOneDnnBackend();
  Dice dice(3);
  const Case c = CaseOf(dice, {500, 400, 1300}, WeightLayout::kOutIn);
  const Results first = Run(*split, c);
  for (const int threads : {1, 2, 3, 7}) {
    const MostThreadsScope scope(threads);
    const Results other = Run(*split, c);
    CHECK(SameBits(first.y, other.y));
    CHECK(SameBits(first.dx, other.dx));
    CHECK(SameBits(first.dweight, other.dweight));
  }
  CHECK(!SameBits(first.y, Run(*exact, c).y));
}

TEST_CASE("split products of what is not finite are not, and zeros stay", "[needs-tiles]") {
  FRUGAL_SKIP_UNLESS(HasSplitProducts(), "no matrix tiles");
  const auto split = MakeOneDnnBackend(F32Products::kSplit);
  Dice dice(4);
  Case c = CaseOf(dice, {256, 64, 64}, WeightLayout::kOutIn);
  c.bias = c.residual = {};
  c.epilogue = {};
  std::ranges::fill(c.weight.tensor.values<float>(), 1.0f);
  std::ranges::fill(c.x.values<float>(), 0.0f);
  c.x.values<float>()[0] = std::numeric_limits<float>::infinity();
  c.x.values<float>()[64] = NAN;
  c.x.values<float>()[128] = 3.0e38f;
  const Results r = Run(*split, c);
  CHECK(!std::isfinite(Value(r.y, 0)));
  CHECK(std::isnan(Value(r.y, 64)));
  CHECK(std::abs(Value(r.y, 128) / 3.0e38 - 1) < 1e-4);
  CHECK(Value(r.y, 192) == 0);
}

}  // namespace
}  // namespace frugal::testing
