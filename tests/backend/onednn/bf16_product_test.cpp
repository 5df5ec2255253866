#include "sdk/core/error.h"
#include "tests/backend/onednn/bf16_support.h"

using namespace frugal;
using namespace frugal::testing;

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

TEST_CASE("a packed weight takes two bytes a number once it is large", "[needs-bf16]") {
  FRUGAL_NEEDS_BF16();
  Backends b;
  const LinearWeight weight(Uninitialized({1536, 384}));
  CHECK(b.fast->product().PackedWeightBytes(weight) == 1536 * 384 * 2);
  CHECK_THROWS_AS(b.reference->product().PackedWeightBytes(weight), UsageError);
}

TEST_CASE("one packed weight serves every number of rows") {
  Backends b;
  Dice dice(2);
  for (const std::int64_t rows : {1, 2, 17, 300}) {
    CheckForward(b, dice, {rows, 130, 70}, WeightLayout::kOutIn);
    CheckBackward(b, dice, {rows, 130, 70}, WeightLayout::kOutIn);
  }
}

namespace {

// A weight's gradient between guards, as it lies in a buffer of parameters.
struct GuardedGradient {
  static constexpr std::int64_t kGuard = 37;
  Tensor memory;
  Tensor tensor;

  GuardedGradient(const Shape& shape, double before)
      : memory(Full({shape.ElementCount() + 2 * kGuard}, before)),
        tensor(memory.Narrow(kGuard, shape.ElementCount()).Reshape(shape)) {}

  bool GuardsAre(double value) const {
    const auto numbers = memory.values<float>();
    const auto is_guard = [&](float number) { return number == static_cast<float>(value); };
    return std::all_of(numbers.begin(), numbers.begin() + kGuard, is_guard) &&
           std::all_of(numbers.end() - kGuard, numbers.end(), is_guard);
  }
};

struct GradientCase {
  Sizes sizes;
  WeightLayout layout;
  bool accumulate, has_bias;

  Shape WeightShape() const {
    return layout == WeightLayout::kOutIn ? Shape{sizes.outputs, sizes.inputs}
                                          : Shape{sizes.inputs, sizes.outputs};
  }
};

struct Gradients {
  GuardedGradient weight, bias;
  explicit Gradients(const GradientCase& c)
      : weight(c.WeightShape(), 0.5), bias({c.sizes.outputs}, 0.5) {}
};

Gradients ComputeGradients(Backend& backend, const GradientCase& c, const Tensor& dy,
                           const Tensor& x) {
  Gradients to(c);
  auto& product = backend.product();
  const Scratch scratch(product.LinearBackwardWeightScratch(dy, x, c.accumulate));
  product.LinearBackwardWeight(dy, x, {to.weight.tensor, c.layout},
                               c.has_bias ? to.bias.tensor : Tensor(), c.accumulate, scratch.get());
  CHECK(scratch.GuardIsIntact());
  CHECK(to.weight.GuardsAre(0.5));
  CHECK(to.bias.GuardsAre(0.5));
  return to;
}

void CheckGradients(Backends& b, Dice& dice, const GradientCase& c) {
  const Sizes& s = c.sizes;
  CAPTURE(s.rows, s.inputs, s.outputs, static_cast<int>(c.layout), c.accumulate, c.has_bias);
  const Rounded x({s.rows, s.inputs}, dice.Seed()), dy({s.rows, s.outputs}, dice.Seed());
  const Gradients fast = ComputeGradients(*b.fast, c, dy.bf16, x.bf16);
  const Tensor dw = Full(c.WeightShape(), 0.5, DType::kF64);
  const Tensor db = Full({s.outputs}, 0.5, DType::kF64);
  b.reference->product().LinearBackwardWeight(dy.f64, x.f64, {dw, c.layout},
                                              c.has_bias ? db : Tensor(), c.accumulate, nullptr);
  CHECK(RelativeError(fast.weight.tensor, dw) < kBf16Sums);
  CHECK(RelativeError(fast.bias.tensor, db) < kBf16Sums);
}

}  // namespace

TEST_CASE("bf16 gradients of weights at sizes of several steps, panels and parts") {
  Backends b;
  Dice dice(3);
  const Sizes sizes[] = {{1, 1, 1},      {2, 33, 31},     {255, 32, 64},
                         {256, 64, 32},  {257, 1025, 40}, {513, 40, 1056},
                         {40, 70, 2049}, {33, 2080, 3},   {300, 1100, 2100}};
  for (const Sizes& s : sizes) {
    for (const WeightLayout layout : kLayouts) {
      CheckGradients(b, dice, {s, layout, dice.Flip(), true});
      CheckGradients(b, dice, {s, layout, dice.Flip(), false});
    }
  }
  for (int round = 0; round < 20; ++round) {
    const Sizes s{dice.Between(1, 700), dice.Between(1, 300), dice.Between(1, 300)};
    for (const WeightLayout layout : kLayouts) {
      CheckGradients(b, dice, {s, layout, dice.Flip(), dice.Flip()});
    }
  }
}

TEST_CASE("bf16 gradients of weights have the same bits with any number of threads",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(4);
  const int before = ThreadCount();
  for (const Sizes& s :
       {Sizes{600, 1100, 130}, Sizes{300, 70, 2100}, Sizes{31, 65, 97}, Sizes{520, 1100, 1000}}) {
    const Rounded x({s.rows, s.inputs}, dice.Seed()), dy({s.rows, s.outputs}, dice.Seed());
    for (const WeightLayout layout : kLayouts) {
      const GradientCase c{s, layout, true, true};
      std::vector<Gradients> results;
      for (const int threads : {1, 2, 3, 5}) {
        SetThreadCount(threads);
        results.push_back(ComputeGradients(*b.fast, c, dy.bf16, x.bf16));
        CHECK(SameBits(results.back().weight.tensor, results.front().weight.tensor));
        CHECK(SameBits(results.back().bias.tensor, results.front().bias.tensor));
      }
    }
  }
  SetThreadCount(before);
}

TEST_CASE("a column of a bf16 weight gradient that is not a number spoils no other") {
  Backends b;
  const Rounded x({40, 33}, 1), dy({40, 35}, 2);
  dy.bf16.data<BFloat16>()[7] = BFloat16(INFINITY);
  for (const WeightLayout layout : kLayouts) {
    const GradientCase c{{40, 33, 35}, layout, false, true};
    const Gradients fast = ComputeGradients(*b.fast, c, dy.bf16, x.bf16);
    for (std::int64_t out = 0; out < 35; ++out) {
      CHECK(std::isfinite(fast.bias.tensor.data<float>()[out]) == (out != 7));
      for (std::int64_t in = 0; in < 33; ++in) {
        const std::int64_t at = layout == WeightLayout::kOutIn ? out * 33 + in : in * 35 + out;
        CHECK(std::isfinite(fast.weight.tensor.data<float>()[at]) == (out != 7));
      }
    }
  }
}

TEST_CASE("rows padded to whole blocks give the same products") {
  Backends b;
  const Sizes s{40, 96, 1500};
  const Weight weight = RandomWeight(*b.fast, s, WeightLayout::kOutIn, 1);
  LinearWeight padded = weight.bf16;
  padded.row_width = b.fast->product().FastWidth(padded);
  CHECK(padded.width() == (simd::HasAmxBf16() ? 1536 : 1500));
  const Rounded x({s.rows, s.inputs}, 2);
  const Tensor y = Uninitialized({s.rows, padded.width()}, DType::kBF16);
  const Tensor narrow = Uninitialized({s.rows, s.outputs}, DType::kBF16);
  const auto run = [&](const LinearWeight& w, const Tensor& to) {
    const Scratch scratch(b.fast->product().LinearForwardScratch(x.bf16, w));
    b.fast->product().LinearForward(x.bf16, w, {}, {}, to, {}, scratch.get());
  };
  run(padded, y);
  run(weight.bf16, narrow);
  const auto wide = Values(y), expected = Values(narrow);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < padded.width(); ++j) {
      const double value = wide[static_cast<std::size_t>(i * padded.width() + j)];
      const double wanted =
          j < s.outputs ? expected[static_cast<std::size_t>(i * s.outputs + j)] : 0;
      if (value != wanted) FAIL_CHECK(i << ", " << j << ": " << value << " for " << wanted);
    }
  }
  const Tensor dx = Uninitialized(x.bf16.shape(), DType::kBF16), other = Clone(dx);
  const Scratch data(b.fast->product().LinearBackwardDataScratch(y, padded));
  b.fast->product().LinearBackwardData(y, padded, dx, false, data.get());
  const Scratch plain(b.fast->product().LinearBackwardDataScratch(narrow, weight.bf16));
  b.fast->product().LinearBackwardData(narrow, weight.bf16, other, false, plain.get());
  CHECK(RelativeError(Values(dx), Values(other)) < kBf16);
  const Tensor dw = Full({s.outputs, s.inputs}, NAN), dw_plain = Full({s.outputs, s.inputs}, NAN);
  const Scratch first(b.fast->product().LinearBackwardWeightScratch(y, x.bf16, false));
  b.fast->product().LinearBackwardWeight(y, x.bf16, dw, {}, false, first.get());
  const Scratch second(b.fast->product().LinearBackwardWeightScratch(narrow, x.bf16, false));
  b.fast->product().LinearBackwardWeight(narrow, x.bf16, dw_plain, {}, false, second.get());
  CHECK(Values(dw) == Values(dw_plain));
}
