#include "sdk/backend/onednn/matmul/data_gradient.h"

#include "tests/backend/onednn/packed_product_support.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

using Sizes = ProductSizes;

Tensor Compute(const Sizes& s, const Tensor& dy, const Tensor& packed) {
  const auto operation = MakeDataGradient(s.Describe(Pass::kBackwardData));
  REQUIRE(operation);
  return BetweenGuards({s.rows, s.inputs}, operation->ScratchBytes(), [&](void* dx, void* scratch) {
    operation->Run({{Slot::kDestinationGradient, dy.raw()},
                    {Slot::kWeight, packed.raw()},
                    {Slot::kSourceGradient, dx}},
                   scratch);
  });
}

void Check(Backends& b, Dice& dice, const Sizes& s) {
  CAPTURE(s.rows, s.inputs, s.outputs);
  const Rounded weight({s.outputs, s.inputs}, dice.Seed()), dy({s.rows, s.outputs}, dice.Seed());
  const Tensor values = MakeTensor(weight.f64.shape(), Values(weight.f64));
  const Tensor dx = Compute(s, dy.bf16, Packed(*b.fast, values));
  const Tensor expected = Uninitialized({s.rows, s.inputs}, DType::kF64);
  b.reference->product().LinearBackwardData(dy.f64, weight.f64, expected, false, nullptr);
  CHECK(RelativeError(dx, expected) < kBf16);
}

}  // namespace

TEST_CASE("gradients of inputs over many outputs, at sizes of several steps, panels and parts",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(1);
  const Sizes sizes[] = {{1, 1, 1},      {2, 33, 31},    {32, 32, 64},    {31, 31, 255},
                         {33, 65, 257},  {256, 64, 512}, {250, 40, 2100}, {1025, 33, 300},
                         {1100, 70, 33}, {128, 256, 97}, {2049, 5, 513}};
  for (const Sizes& s : sizes) Check(b, dice, s);
  for (int round = 0; round < 25; ++round) {
    Check(b, dice, {dice.Between(1, 300), dice.Between(1, 200), dice.Between(1, 1500)});
  }
}

TEST_CASE("products with a vocabulary take that way, and agree with f64 on the same numbers",
          "[needs-bf16]") {
  FRUGAL_NEEDS_BF16();
  CHECK(DataGradientPays(Sizes{256, 768, 50304}.Describe(Pass::kBackwardData)));
  CHECK_FALSE(DataGradientPays(Sizes{1024, 768, 3072}.Describe(Pass::kBackwardData)));
  Backends b;
  auto& product = b.fast->product();
  const Sizes s{130, 520, 8200};
  REQUIRE(DataGradientPays(s.Describe(Pass::kBackwardData)));
  const Rounded weight({s.outputs, s.inputs}, 1);
  LinearWeight packed(MakeTensor(weight.f64.shape(), Values(weight.f64)));
  packed.packed = Packed(*b.fast, packed.tensor);
  const Tensor expected = Uninitialized({s.rows, s.inputs}, DType::kF64);
  const Rounded dy({s.rows, s.outputs}, 2);
  b.reference->product().LinearBackwardData(dy.f64, weight.f64, expected, false, nullptr);
  const Tensor dx = Uninitialized({s.rows, s.inputs}, DType::kBF16);
  const Scratch scratch(product.LinearBackwardDataScratch(dy.bf16, packed));
  product.LinearBackwardData(dy.bf16, packed, dx, false, scratch.get());
  CHECK(RelativeError(dx, expected) < kBf16);
  CHECK(scratch.GuardIsIntact());
  if (simd::HasAmxBf16()) CHECK(SameBits(dx, Compute(s, dy.bf16, packed.packed)));
}

TEST_CASE("gradients of inputs over many outputs have the same bits with any number of threads",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  const int before = ThreadCount();
  for (const Sizes& s : {Sizes{300, 130, 1100}, Sizes{1030, 97, 600}}) {
    const Tensor dy = RandomTensor({s.rows, s.outputs}, 1, DType::kBF16);
    const Tensor packed = Packed(*b.fast, RandomTensor({s.outputs, s.inputs}, 2));
    SetThreadCount(1);
    const Tensor expected = Compute(s, dy, packed);
    for (const int threads : {2, 3, 5}) {
      SetThreadCount(threads);
      CHECK(SameBits(Compute(s, dy, packed), expected));
    }
  }
  SetThreadCount(before);
}

TEST_CASE("a row of gradients that is not a number spoils no other", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  const Sizes s{40, 33, 300};
  const Tensor dy = RandomTensor({s.rows, s.outputs}, 1, DType::kBF16);
  dy.data<BFloat16>()[7 * s.outputs + 299] = BFloat16(NAN);
  const Tensor dx = Compute(s, dy, Packed(*b.fast, RandomTensor({s.outputs, s.inputs}, 2)));
  const auto values = Values(dx);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(std::isnan(values[i]) == (i / 33 == 7));
  }
}
