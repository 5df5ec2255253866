#include "sdk/backend/onednn/matmul/packed_gemm.h"

#include "tests/backend/onednn/packed_product_support.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

using Sizes = ProductSizes;

// A weight, and its copy in tiles.
struct Weight {
  Rounded values;
  Tensor packed;

  Weight(Backend& backend, const Sizes& s, std::uint64_t seed)
      : values({s.outputs, s.inputs}, seed),
        packed(Packed(backend, MakeTensor(values.f64.shape(), Values(values.f64)))) {}
};

// Arguments without the weight and the result.
struct Given {
  Tensor rows, bias, residual;
};

Tensor Compute(const PackedLinearDescription& d, const Given& given, const Tensor& packed) {
  const bool forward = d.pass == Pass::kForward;
  const auto operation = MakePackedGemm(d);
  REQUIRE(operation);
  return BetweenGuards(
      {d.rows, forward ? d.outputs : d.inputs}, operation->ScratchBytes(),
      [&](void* result, void* scratch) {
        operation->Run({{forward ? Slot::kSource : Slot::kDestinationGradient, given.rows.raw()},
                        {Slot::kWeight, packed.raw()},
                        {Slot::kBias, given.bias ? given.bias.raw() : nullptr},
                        {Slot::kResidual, given.residual ? given.residual.raw() : nullptr},
                        {forward ? Slot::kDestination : Slot::kSourceGradient, result}},
                       scratch);
      });
}

void CheckForward(Backends& b, Dice& dice, const Sizes& s) {
  CAPTURE(s.rows, s.inputs, s.outputs);
  const Weight weight(*b.fast, s, dice.Seed());
  const Rounded x({s.rows, s.inputs}, dice.Seed());
  PackedLinearDescription d = s.Describe(Pass::kForward);
  d.bias = dice.Flip();
  d.residual = dice.Flip();
  d.epilogue.activation = dice.Flip() ? Activation::kRelu : Activation::kIdentity;
  const Exact bias = d.bias ? Exact({s.outputs}, dice.Seed()) : Exact();
  const Rounded residual = d.residual ? Rounded({s.rows, s.outputs}, dice.Seed()) : Rounded();
  CAPTURE(d.bias, d.residual, d.epilogue.activation == Activation::kRelu);
  const Tensor y = Compute(d, {x.bf16, bias.f32, residual.bf16}, weight.packed);
  const Tensor expected = Uninitialized({s.rows, s.outputs}, DType::kF64);
  b.reference->product().LinearForward(x.f64, weight.values.f64, bias.f64, residual.f64, expected,
                                       d.epilogue, nullptr);
  CHECK(RelativeError(y, expected) < kBf16);
}

void CheckBackwardData(Backends& b, Dice& dice, const Sizes& s) {
  CAPTURE(s.rows, s.inputs, s.outputs);
  const Weight weight(*b.fast, s, dice.Seed());
  const Rounded dy({s.rows, s.outputs}, dice.Seed());
  const Tensor dx = Compute(s.Describe(Pass::kBackwardData), {dy.bf16, {}, {}}, weight.packed);
  const Tensor expected = Uninitialized({s.rows, s.inputs}, DType::kF64);
  b.reference->product().LinearBackwardData(dy.f64, weight.values.f64, expected, false, nullptr);
  CHECK(RelativeError(dx, expected) < kBf16);
}

}  // namespace

TEST_CASE("bf16 products on our own tiles, at the edges of blocks and at random sizes",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(1);
  const Sizes sizes[] = {{1, 1, 1},       {2, 33, 31},    {32, 32, 64},    {31, 31, 255},
                         {33, 65, 257},   {256, 64, 512}, {130, 700, 100}, {600, 2100, 65},
                         {1025, 33, 70},  {40, 64, 6000}, {129, 96, 97},   {64, 4000, 33},
                         {900, 1000, 900}};
  for (const Sizes& s : sizes) {
    for (int round = 0; round < 3; ++round) CheckForward(b, dice, s);
    CheckBackwardData(b, dice, s);
  }
  for (int round = 0; round < 30; ++round) {
    const Sizes s{dice.Between(1, 700), dice.Between(1, 400), dice.Between(1, 400)};
    CheckForward(b, dice, s);
    CheckBackwardData(b, dice, s);
  }
}

TEST_CASE("bf16 products of many rows go that way, others and their epilogues to oneDNN",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  const Sizes many{1024, 768, 3072}, few{64, 768, 3072};
  CHECK(PackedGemmPays(many.Describe(Pass::kForward)));
  CHECK(PackedGemmPays(many.Describe(Pass::kBackwardData)));
  CHECK_FALSE(PackedGemmPays(few.Describe(Pass::kForward)));
  CHECK_FALSE(MakePackedGemm(many.Describe(Pass::kBackwardWeight)));
  PackedLinearDescription d = many.Describe(Pass::kForward);
  d.epilogue.activation = Activation::kTanh;
  CHECK_FALSE(MakePackedGemm(d));
}

TEST_CASE("bf16 products on our own tiles have the same bits with any number of threads",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  const int before = ThreadCount();
  for (const Sizes& s : {Sizes{300, 130, 500}, Sizes{70, 97, 600}, Sizes{1030, 200, 130}}) {
    const Weight weight(*b.fast, s, 1);
    for (const Pass pass : {Pass::kForward, Pass::kBackwardData}) {
      const std::int64_t depth = pass == Pass::kForward ? s.inputs : s.outputs;
      const Given given{RandomTensor({s.rows, depth}, 2, DType::kBF16), {}, {}};
      const PackedLinearDescription d = s.Describe(pass);
      SetThreadCount(1);
      const Tensor expected = Compute(d, given, weight.packed);
      for (const int threads : {2, 3, 5}) {
        SetThreadCount(threads);
        CHECK(SameBits(Compute(d, given, weight.packed), expected));
      }
    }
  }
  SetThreadCount(before);
}

TEST_CASE("a row that is not a number spoils no other, and stays one behind relu",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  const Sizes s{70, 45, 90};
  const Weight weight(*b.fast, s, 1);
  PackedLinearDescription d = s.Describe(Pass::kForward);
  d.epilogue.activation = Activation::kRelu;
  const Tensor x = RandomTensor({s.rows, s.inputs}, 2, DType::kBF16);
  x.data<BFloat16>()[7 * s.inputs + 44] = BFloat16(NAN);
  const auto values = Values(Compute(d, {x, {}, {}}, weight.packed));
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::isnan(values[i]) == (i / 90 == 7));
}
