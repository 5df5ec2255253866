#include "sdk/backend/onednn/conv/conv_weight_gradient.h"

#include "tests/backend/onednn/bf16_support.h"
#include "tests/backend/onednn/conv_support.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

struct Gradients {
  Tensor weight, bias;
};

Gradients Compute(const ConvGeometry& g, const Tensor& dy, const Tensor& x, const Gradients& from,
                  bool accumulate) {
  ConvDescription d;
  d.geometry = g;
  d.pass = Pass::kBackwardWeight;
  d.dtype = DType::kBF16;
  d.bias = static_cast<bool>(from.bias);
  d.accumulate = accumulate;
  const auto operation = MakeConvWeightGradient(d);
  REQUIRE(operation);
  const Scratch scratch(operation->ScratchBytes());
  const Gradients result{Clone(from.weight), from.bias ? Clone(from.bias) : Tensor()};
  operation->Run({{Slot::kSource, x.raw()},
                  {Slot::kDestinationGradient, dy.raw()},
                  {Slot::kWeightGradient, result.weight.raw()},
                  {Slot::kBiasGradient, result.bias.raw()}},
                 scratch.get());
  CHECK(scratch.GuardIsIntact());
  return result;
}

struct Case {
  ConvGeometry g;
  Rounded x, dy;
  Shape weight;

  Case(const ConvGeometry& geometry, Dice& dice)
      : g(geometry),
        x(InputShape(g), dice.Seed()),
        dy(OutputShape(g), dice.Seed()),
        weight(WeightShape(g)) {}
};

void Check(Backends& b, const Case& c, bool bias) {
  FRUGAL_CAPTURE_CONVOLUTION(c.g);
  auto& conv = b.reference->conv();
  for (const bool accumulate : {false, true}) {
    const double before = accumulate ? 0.5 : NAN;
    const Gradients from{Full(c.weight, before),
                         bias ? Full({c.g.output_channels}, before) : Tensor()};
    const Gradients actual = Compute(c.g, c.dy.bf16, c.x.bf16, from, accumulate);
    const Tensor weight = Full(c.weight, before, DType::kF64);
    const Tensor sums = bias ? Full({c.g.output_channels}, before, DType::kF64) : Tensor();
    const Scratch scratch(conv.BackwardWeightScratch(c.g, DType::kF64, bias, accumulate));
    conv.BackwardWeight(c.g, c.dy.f64, c.x.f64, weight, sums, accumulate, scratch.get());
    CHECK(RelativeError(actual.weight, weight) < 1e-5);  // f32 sums of exact products
    if (bias) CHECK(RelativeError(actual.bias, sums) < 1e-5);
  }
}

}  // namespace

TEST_CASE("gradients of convolutions' weights on matrix tiles, at random geometries",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 60; ++round)
    Check(b, Case(RandomConvolution(dice), dice), dice.Flip());
}

TEST_CASE("gradients of convolutions' weights, over more positions than are taken at a time",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(2);
  Check(b, Case(ImageConvolution({40, 8, 64, 128}), dice), true);
  Check(b, Case(ImageConvolution({3, 13, 33, 520}), dice), false);
  Check(b, Case(ImageConvolution({17, 23, 40, 7, 3, 2}), dice), true);
}

TEST_CASE("gradients of convolutions' weights have the same bits with any number of threads",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Dice dice(3);
  const Case c(ImageConvolution({12, 8, 70, 130}), dice);
  const Gradients from{Full(c.weight, 0.5), Full({130}, 0.5)};
  const int before = ThreadCount();
  SetThreadCount(1);
  const Gradients expected = Compute(c.g, c.dy.bf16, c.x.bf16, from, true);
  for (const int threads : {2, 3, 5}) {
    SetThreadCount(threads);
    const Gradients again = Compute(c.g, c.dy.bf16, c.x.bf16, from, true);
    CHECK(SameBits(again.weight, expected.weight));
    CHECK(SameBits(again.bias, expected.bias));
  }
  SetThreadCount(before);
}
