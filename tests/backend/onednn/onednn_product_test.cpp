#include "tests/backend/onednn/product_support.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

Sizes RandomSizes(Dice& dice, int round) {
  const std::int64_t most = round % 3 == 0 ? 9 : 150;
  return {dice.Between(1, most), dice.Between(1, most), dice.Between(1, most)};
}

}  // namespace

TEST_CASE("oneDNN products agree with the reference at random sizes") {
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 60; ++round) {
    for (const WeightLayout layout : kLayouts) {
      CompareForward(b, dice, RandomSizes(dice, round), layout);
    }
  }
}

TEST_CASE("oneDNN products agree at sizes on each side of every choice") {
  Backends b;
  Dice dice(2);
  for (const Sizes& s : {Sizes{1, 64, 10},
                         {2048, 16, 16},
                         {2047, 17, 300},
                         {64, 100, 256},
                         {63, 100, 256},
                         {64, 100, 31},
                         {64, 1000, 257},
                         {1024, 17, 19},
                         {1023, 17, 19},
                         {32, 50, 2560},
                         {31, 50, 2560},
                         {33, 7, 3585},
                         {1, 50, 3072},
                         {1, 1, 1}}) {
    for (const WeightLayout layout : kLayouts) CompareForward(b, dice, s, layout);
  }
}

TEST_CASE("oneDNN product gradients agree with the reference, added or not") {
  Backends b;
  Dice dice(3);
  for (int round = 0; round < 60; ++round) {
    const Sizes s = round < 2 ? Sizes{1, 13, 7} : RandomSizes(dice, round);
    CompareGradients(b, dice, s, kLayouts[round % 2]);
  }
}

TEST_CASE("oneDNN products repeat to the bit") {
  Backends b;
  const Tensor x = RandomTensor({300, 700}, 1), weight = RandomTensor({130, 700}, 2);
  const Tensor dy = RandomTensor({300, 130}, 3), bias = RandomTensor({130}, 4);
  const LinearEpilogue relu{Activation::kRelu, 0};
  const Tensor y = Forward(*b.fast, x, weight, bias, {}, relu);
  const Gradients g = Backward(*b.fast, dy, x, weight, true);
  for (int i = 0; i < kRepeats; ++i) {
    CHECK(SameBits(Forward(*b.fast, x, weight, bias, {}, relu), y));
    const Gradients again = Backward(*b.fast, dy, x, weight, true);
    CHECK(SameBits(again.dx, g.dx));
    CHECK(SameBits(again.dweight, g.dweight));
    CHECK(SameBits(again.dbias, g.dbias));
  }
}

TEST_CASE("oneDNN products of nothing and of f64 are the reference's") {
  Backends b;
  const Tensor weight = RandomTensor({3, 5}, 1);
  CHECK(Forward(*b.fast, Uninitialized({0, 5}), weight, {}, {}, {}).size() == 0);
  const Gradients none =
      Backward(*b.fast, Uninitialized({0, 3}), Uninitialized({0, 5}), weight, false);
  CHECK(MaxError(none.dweight, Full({3, 5}, 0)) == 0);
  CHECK(MaxError(none.dbias, Full({3}, 0)) == 0);
  const LinearWeight transposed(RandomTensor({5, 3}, 1), WeightLayout::kInOut);
  const Gradients still =
      Backward(*b.fast, Uninitialized({0, 3}), Uninitialized({0, 5}), transposed, false);
  CHECK(MaxError(still.dweight, Full({5, 3}, 0)) == 0);

  const Tensor x = RandomTensor({4, 5}, 2, DType::kF64);
  const Tensor w = RandomTensor({3, 5}, 1, DType::kF64);
  Tensor y = Uninitialized({4, 3}, DType::kF64), expected = Uninitialized({4, 3}, DType::kF64);
  b.fast->product().LinearForward(x, w, {}, {}, y, {}, nullptr);
  b.reference->product().LinearForward(x, w, {}, {}, expected, {}, nullptr);
  CHECK(SameBits(y, expected));
}
