#include "sdk/backend/onednn/matmul/weight_packing.h"

#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/primitive/packed_weight.h"
#include "tests/backend/onednn/bf16_support.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

constexpr WeightLayout kLayouts[] = {WeightLayout::kOutIn, WeightLayout::kInOut};

Tensor Pack(Operation& operation, const PackDescription& d, const Tensor& weight) {
  const Tensor packed = Full({PackedWeightBytes(d.inputs, d.outputs)}, 255, DType::kU8);
  const Scratch scratch(operation.ScratchBytes());
  operation.Run({{Slot::kSource, weight.raw()}, {Slot::kDestination, packed.raw()}}, scratch.get());
  return packed;
}

Tensor RandomWeight(const PackDescription& d, std::uint64_t seed) {
  const bool out_in = d.layout == WeightLayout::kOutIn;
  return RandomTensor({out_in ? d.outputs : d.inputs, out_in ? d.inputs : d.outputs}, seed);
}

void CheckBits(const PackDescription& d, const Tensor& weight) {
  CAPTURE(d.inputs, d.outputs, static_cast<int>(d.layout));
  const auto ours = MakeWeightPacking(d), reorder = MakePrimitive(d);
  REQUIRE(ours);
  REQUIRE(reorder);
  CHECK(SameBits(Pack(*ours, d, weight), Pack(*reorder, d, weight)));
}

}  // namespace

TEST_CASE("weights are packed to the same bits as by oneDNN, padding too", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Dice dice(1);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t most = round % 2 == 0 ? 70 : 400;
    for (const WeightLayout layout : kLayouts) {
      const PackDescription d{dice.Between(1, most), dice.Between(1, most), layout};
      CheckBits(d, RandomWeight(d, dice.Seed()));
    }
  }
  for (const WeightLayout layout : kLayouts) {
    for (const std::int64_t inputs : {1, 31, 32, 33, 96}) {
      for (const std::int64_t outputs : {1, 15, 17, 63, 64, 65, 128, 1025}) {
        const PackDescription d{inputs, outputs, layout};
        CheckBits(d, RandomWeight(d, dice.Seed()));
      }
    }
  }
}

TEST_CASE("numbers between two of bf16, huge ones and infinities are packed as by oneDNN",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  for (const WeightLayout layout : kLayouts) {
    const PackDescription d{40, 70, layout};
    const Tensor weight = RandomWeight(d, 1);
    // Exactly between two numbers: to the even one, below and above; and what rounds to infinity.
    const float cases[] = {1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f,  -3.4e38f, INFINITY,
                           -INFINITY,   0.0f,        -0.0f,        1.2e-38f, 65504.0f, 1.0000001f};
    std::ranges::copy(cases, weight.data<float>() + 11);
    CheckBits(d, weight);
  }
}

TEST_CASE("a weight that is not a number stays one and spoils no other", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  for (const WeightLayout layout : kLayouts) {
    const PackDescription d{40, 70, layout};
    const Tensor weight = RandomWeight(d, 1), spoilt = Clone(weight);
    spoilt.data<float>()[57] = NAN;
    const auto packing = MakeWeightPacking(d);
    const Tensor good = Pack(*packing, d, weight), bad = Pack(*packing, d, spoilt);
    int differences = 0;
    for (std::int64_t i = 0; i < good.size() / 2; ++i) {
      const BFloat16 before = static_cast<const BFloat16*>(good.raw())[i];
      const BFloat16 after = static_cast<const BFloat16*>(bad.raw())[i];
      if (static_cast<float>(before) == static_cast<float>(after)) continue;
      ++differences;
      CHECK(std::isnan(static_cast<float>(after)));
    }
    CHECK(differences == 1);
  }
}

TEST_CASE("weights are packed to the same bits with any number of threads", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  const int before = ThreadCount();
  for (const WeightLayout layout : kLayouts) {
    const PackDescription d{300, 700, layout};
    const Tensor weight = RandomWeight(d, 1);
    const auto packing = MakeWeightPacking(d);
    SetThreadCount(1);
    const Tensor expected = Pack(*packing, d, weight);
    for (const int threads : {2, 3, 5}) {
      SetThreadCount(threads);
      CHECK(SameBits(Pack(*packing, d, weight), expected));
    }
  }
  SetThreadCount(before);
}
