#include "sdk/core/error.h"
#include "tests/backend/bf16_support.h"

using namespace frugal;
using namespace frugal::test;

namespace {

struct Sizes {
  std::int64_t rows, inputs, outputs;
};

struct Weight {
  LinearWeight bf16, f64;
};

Weight RandomWeight(Backend& backend, const Sizes& s, WeightLayout layout, std::uint64_t seed) {
  const bool out_in = layout == WeightLayout::kOutIn;
  const Rounded numbers(out_in ? Shape{s.outputs, s.inputs} : Shape{s.inputs, s.outputs}, seed);
  LinearWeight fast(MakeTensor(numbers.f64.shape(), Values(numbers.f64)), layout);
  fast.packed = ScratchOf(backend.product().PackedWeightBytes(fast));
  backend.product().PackWeight(fast, fast.packed);
  return {fast, {numbers.f64, layout}};
}

void CheckForward(Backends& b, Dice& dice, const Sizes& s, WeightLayout layout) {
  const Rounded x({s.rows, s.inputs}, dice.Seed());
  const Weight weight = RandomWeight(*b.fast, s, layout, dice.Seed());
  const Exact bias = dice.Flip() ? Exact({s.outputs}, dice.Seed()) : Exact();
  const Rounded residual = dice.Flip() ? Rounded({s.rows, s.outputs}, dice.Seed()) : Rounded();
  const LinearEpilogue epilogue{dice.Flip() ? Activation::kRelu : Activation::kIdentity, 0};
  CAPTURE(s.rows, s.inputs, s.outputs, static_cast<int>(layout));
  const Tensor y = Uninitialized({s.rows, s.outputs}, DType::kBF16);
  const Tensor expected = Uninitialized(y.shape(), DType::kF64);
  const Scratch scratch(b.fast->product().LinearForwardScratch(x.bf16, weight.bf16));
  b.fast->product().LinearForward(x.bf16, weight.bf16, bias.f32, residual.bf16, y, epilogue,
                                  scratch.get());
  b.reference->product().LinearForward(x.f64, weight.f64, bias.f64, residual.f64, expected,
                                       epilogue, nullptr);
  CHECK(RelativeError(y, expected) < kBf16);
  CHECK(scratch.GuardIsIntact());
}

void CheckBackward(Backends& b, Dice& dice, const Sizes& s, WeightLayout layout) {
  const Rounded x({s.rows, s.inputs}, dice.Seed()), dy({s.rows, s.outputs}, dice.Seed());
  const Weight weight = RandomWeight(*b.fast, s, layout, dice.Seed());
  const bool accumulate = dice.Flip();
  CAPTURE(s.rows, s.inputs, s.outputs, static_cast<int>(layout), accumulate);
  const double before = accumulate ? 0.5 : NAN;
  const Tensor dx = Uninitialized(x.bf16.shape(), DType::kBF16);
  const Tensor expected_dx = Uninitialized(x.bf16.shape(), DType::kF64);
  const Tensor dw = Full(weight.f64.tensor.shape(), before), db = Full({s.outputs}, before);
  const Tensor expected_dw = Full(dw.shape(), before, DType::kF64);
  const Tensor expected_db = Full(db.shape(), before, DType::kF64);
  auto& fast = b.fast->product();
  const Scratch data(fast.LinearBackwardDataScratch(dy.bf16, weight.bf16));
  fast.LinearBackwardData(dy.bf16, weight.bf16, dx, false, data.get());
  const Scratch weights(fast.LinearBackwardWeightScratch(dy.bf16, x.bf16, accumulate));
  fast.LinearBackwardWeight(dy.bf16, x.bf16, {dw, layout}, db, accumulate, weights.get());
  auto& reference = b.reference->product();
  reference.LinearBackwardData(dy.f64, weight.f64, expected_dx, false, nullptr);
  reference.LinearBackwardWeight(dy.f64, x.f64, {expected_dw, layout}, expected_db, accumulate,
                                 nullptr);
  CHECK(RelativeError(dx, expected_dx) < kBf16);
  CHECK(RelativeError(dw, expected_dw) < kBf16Sums);
  CHECK(RelativeError(db, expected_db) < kBf16Sums);
  CHECK(data.GuardIsIntact());
  CHECK(weights.GuardIsIntact());
}

constexpr WeightLayout kLayouts[] = {WeightLayout::kOutIn, WeightLayout::kInOut};

}  // namespace

TEST_CASE("bf16 products agree with f64 on the same numbers at random sizes") {
  FRUGAL_NEEDS_BF16();
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 25; ++round) {
    const std::int64_t most = round % 3 == 0 ? 9 : 200;
    const Sizes s{dice.Between(1, most), dice.Between(1, most), dice.Between(1, most)};
    for (const WeightLayout layout : kLayouts) {
      CheckForward(b, dice, s, layout);
      CheckBackward(b, dice, s, layout);
    }
  }
}

TEST_CASE("a packed weight takes two bytes a number once it is large") {
  FRUGAL_NEEDS_BF16();
  Backends b;
  const LinearWeight weight(Uninitialized({1536, 384}));
  CHECK(b.fast->product().PackedWeightBytes(weight) == 1536 * 384 * 2);
  CHECK_THROWS_AS(b.reference->product().PackedWeightBytes(weight), UsageError);
}

TEST_CASE("one packed weight serves every number of rows") {
  FRUGAL_NEEDS_BF16();
  Backends b;
  Dice dice(2);
  for (const std::int64_t rows : {1, 2, 17, 300}) {
    CheckForward(b, dice, {rows, 130, 70}, WeightLayout::kOutIn);
    CheckBackward(b, dice, {rows, 130, 70}, WeightLayout::kOutIn);
  }
}
