// Products that are taken in blocks of ours on processors with AVX2 alone, on each side of every
// edge of tiles, blocks and of that choice. With other instructions the same sizes are oneDNN's.
#include "sdk/backend/onednn/gemm/blocked_gemm.h"

#include "sdk/backend/common/cpu_features.h"
#include "sdk/core/threads.h"
#include "tests/backend/onednn/product_support.h"

using namespace frugal;
using namespace frugal::testing;
using namespace frugal::onednn;

namespace {

bool HasAvx2Alone() { return simd::BestInstructionSet() == simd::InstructionSet::kAvx2; }

// Below these sizes oneDNN's products serve, whose bits depend on the number of threads.
Sizes RandomSizes(Dice& dice) {
  return {dice.Between(64, 260), dice.Between(256, 600), dice.Between(256, 600)};
}

// Holds rows [begin, end) of x.
Tensor RowsOf(const Tensor& x, std::int64_t begin, std::int64_t end) {
  const std::int64_t columns = x.shape().back();
  Tensor rows = Uninitialized({end - begin, columns});
  std::copy_n(x.data<float>() + begin * columns, rows.size(), rows.data<float>());
  return rows;
}

}  // namespace

TEST_CASE("products in blocks agree with the reference on each side of every edge") {
  Backends b;
  Dice dice(5);
  for (const Sizes& s : {Sizes{64, 256, 256},
                         {63, 256, 256},
                         {64, 255, 257},
                         {65, 257, 256},
                         {144, 260, 1024},
                         {289, 517, 271},
                         {150, 256, 1030},
                         {1030, 64, 300},
                         {256, 769, 2065},
                         {263, 256, 256},
                         {512, 256, 257},
                         {511, 256, 256},
                         {770, 300, 1050}}) {
    for (const WeightLayout layout : kLayouts) {
      for (int round = 0; round < 3; ++round) CompareForward(b, dice, s, layout);
      CompareGradients(b, dice, s, layout);
    }
  }
}

TEST_CASE("products in blocks of random sizes agree with the reference") {
  Backends b;
  Dice dice(7);
  for (int round = 0; round < 12; ++round) {
    const Sizes s = RandomSizes(dice);
    const WeightLayout layout = kLayouts[dice.Between(0, 1)];
    CompareForward(b, dice, s, layout);
    CompareGradients(b, dice, s, layout);
  }
}

TEST_CASE("products are taken in blocks where that is faster, with AVX2 alone") {
  const auto pays = [](char transpose_a, std::int64_t m, std::int64_t n, std::int64_t k) {
    return BlockedGemmPays(
        {.transpose_a = transpose_a, .transpose_b = 'N', .m = m, .n = n, .k = k});
  };
  CHECK(pays('N', 64, 256, 256) == HasAvx2Alone());
  CHECK_FALSE(pays('N', 63, 256, 256));
  CHECK_FALSE(pays('N', 64, 255, 256));
  CHECK_FALSE(pays('N', 64, 256, 255));
  CHECK_FALSE(pays('N', 0, 1024, 1024));
  CHECK(pays('N', 263, 1 << 20, 256) == HasAvx2Alone());
  CHECK_FALSE(pays('N', 264, 1 << 20, 256));  // oneDNN packs its factors
  CHECK(pays('T', 256, 256, 512) == HasAvx2Alone());
  CHECK_FALSE(pays('T', 256, 256, 511));
  CHECK_FALSE(pays('T', 255, 256, 512));
  CHECK_FALSE(pays('T', 256, 255, 512));
}

TEST_CASE("a product in blocks repeats to the bit, with any number of threads") {
  if (!HasAvx2Alone()) return;
  Backends b;
  Dice dice(6);
  const int threads = ThreadCount();
  for (int round = 0; round < 4; ++round) {
    const Sizes s = RandomSizes(dice);
    const std::int64_t deep = dice.Between(512, 800);
    const WeightLayout layout = kLayouts[round % 2];
    const LinearWeight weight = RandomWeight(dice, s, layout);
    const Tensor x = RandomTensor({s.rows, s.inputs}, 1), bias = RandomTensor({s.outputs}, 2);
    const Tensor residual = RandomTensor({s.rows, s.outputs}, 3);
    const Tensor rows = RandomTensor({deep, s.inputs}, 4), dy = RandomTensor({deep, s.outputs}, 5);
    const LinearEpilogue tanh{Activation::kTanh, 0};
    const Tensor y = Forward(*b.fast, x, weight, bias, residual, tanh);
    const Tensor dx = Backward(*b.fast, residual, x, weight, true).dx;
    const Tensor dweight = Backward(*b.fast, dy, rows, weight, true).dweight;
    for (const int count : {1, 2, 3, 7, 40}) {
      SetThreadCount(count);
      CAPTURE(s.rows, s.inputs, s.outputs, deep, count);
      CHECK(SameBits(Forward(*b.fast, x, weight, bias, residual, tanh), y));
      CHECK(SameBits(Backward(*b.fast, residual, x, weight, true).dx, dx));
      CHECK(SameBits(Backward(*b.fast, dy, rows, weight, true).dweight, dweight));
    }
    SetThreadCount(threads);
  }
}

TEST_CASE("a row of a product in blocks has the same bits whatever rows are beside it") {
  if (!HasAvx2Alone()) return;
  Backends b;
  Dice dice(8);
  const LinearWeight weight = RandomWeight(dice, {300, 300, 400}, WeightLayout::kOutIn);
  const Tensor x = RandomTensor({300, 300}, 1), bias = RandomTensor({400}, 2);
  const Tensor y = Forward(*b.fast, x, weight, bias, Tensor(), {});
  for (const std::int64_t begin : {0, 1, 100, 200}) {
    const Tensor some = Forward(*b.fast, RowsOf(x, begin, begin + 100), weight, bias, Tensor(), {});
    CHECK(SameBits(some, RowsOf(y, begin, begin + 100)));
  }
}

TEST_CASE("a number that is none, or infinite, stays in its row and column of a product") {
  Backends b;
  Dice dice(9);
  Tensor x = RandomTensor({101, 300}, 1);
  LinearWeight weight = RandomWeight(dice, {101, 300, 305}, WeightLayout::kOutIn);
  x.data<float>()[100 * 300 + 299] = NAN;
  weight.tensor.data<float>()[304 * 300 + 299] = INFINITY;
  const Tensor y = Forward(*b.fast, x, weight, Tensor(), Tensor(), {});
  for (std::int64_t row = 0; row < 101; ++row) {
    for (std::int64_t column = 0; column < 305; ++column) {
      CHECK(std::isfinite(y.data<float>()[row * 305 + column]) == (row < 100 && column < 304));
    }
  }
}
