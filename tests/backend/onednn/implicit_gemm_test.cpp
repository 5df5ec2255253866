#include "sdk/backend/onednn/conv/implicit_gemm.h"

#include "tests/backend/onednn/bf16_support.h"
#include "tests/backend/onednn/conv_support.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

struct Case {
  ConvGeometry g;
  Rounded x, dy, weight;
  Exact bias;
  Tensor weight_f32;

  Case(const ConvGeometry& geometry, Dice& dice)
      : g(geometry),
        x(InputShape(g), dice.Seed()),
        dy(OutputShape(g), dice.Seed()),
        weight(WeightShape(g), dice.Seed()),
        bias({g.output_channels}, dice.Seed()),
        weight_f32(MakeTensor(weight.bf16.shape(), Values(weight.bf16))) {}

  ConvDescription Describe(Pass pass, bool has_bias, Activation activation) const {
    ConvDescription d;
    d.geometry = g;
    d.pass = pass;
    d.dtype = DType::kBF16;
    d.bias = has_bias;
    d.epilogue = {activation, 0};
    return d;
  }
};

Tensor Compute(const Case& c, const ConvDescription& d) {
  const auto operation = MakeImplicitGemm(d);
  REQUIRE(operation);
  const Scratch scratch(operation->ScratchBytes());
  const bool forward = d.pass == Pass::kForward;
  const Tensor result = Full(forward ? OutputShape(c.g) : InputShape(c.g), NAN, DType::kBF16);
  operation->Run({{Slot::kSource, c.x.bf16.raw()},
                  {Slot::kDestinationGradient, c.dy.bf16.raw()},
                  {Slot::kWeight, c.weight_f32.raw()},
                  {Slot::kBias, d.bias ? c.bias.f32.raw() : nullptr},
                  {Slot::kDestination, result.raw()},
                  {Slot::kSourceGradient, result.raw()}},
                 scratch.get());
  CHECK(scratch.GuardIsIntact());
  return result;
}

void CheckForward(Backends& b, const Case& c, bool bias, Activation activation) {
  FRUGAL_CAPTURE_CONVOLUTION(c.g);
  auto& conv = b.reference->conv();
  const Tensor expected = Full(OutputShape(c.g), NAN, DType::kF64);
  const Scratch scratch(conv.ForwardScratch(c.g, DType::kF64));
  conv.Forward(c.g, c.x.f64, c.weight.f64, bias ? c.bias.f64 : Tensor(), expected, {activation, 0},
               scratch.get());
  const Tensor actual = Compute(c, c.Describe(Pass::kForward, bias, activation));
  CHECK(RelativeError(actual, expected) < kBf16);
}

void CheckBackward(Backends& b, const Case& c) {
  FRUGAL_CAPTURE_CONVOLUTION(c.g);
  auto& conv = b.reference->conv();
  const Tensor expected = Full(InputShape(c.g), NAN, DType::kF64);
  const Scratch scratch(conv.BackwardDataScratch(c.g, DType::kF64));
  conv.BackwardData(c.g, c.dy.f64, c.weight.f64, expected, scratch.get());
  const Tensor actual = Compute(c, c.Describe(Pass::kBackwardData, false, Activation::kIdentity));
  CHECK(RelativeError(actual, expected) < kBf16);
}

void Check(Backends& b, const Case& c) {
  CheckForward(b, c, true, Activation::kIdentity);
  CheckForward(b, c, false, Activation::kRelu);
  CheckBackward(b, c);
}

}  // namespace

TEST_CASE("convolutions on matrix tiles, at random geometries", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 60; ++round) Check(b, Case(RandomConvolution(dice), dice));
}

TEST_CASE("convolutions on matrix tiles, in more pieces than one", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(2);
  Check(b, Case(ImageConvolution({40, 8, 64, 128}), dice));
  Check(b, Case(ImageConvolution({9, 4, 300, 70}), dice));
  Check(b, Case(ImageConvolution({3, 13, 33, 520, 3, 2}), dice));
  Check(b, Case(ImageConvolution({2, 11, 810, 9, 5, 3}), dice));  // more places than 16 at once
  Check(b, Case(ImageConvolution({5, 9, 130, 96, 1, 2}), dice));  // positions that no window sees
}

TEST_CASE("a convolution on matrix tiles has the same bits with any number of threads",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Dice dice(3);
  const Case c(ImageConvolution({12, 8, 70, 130, 3, 2}), dice);
  const ConvDescription forward = c.Describe(Pass::kForward, true, Activation::kRelu);
  const ConvDescription backward = c.Describe(Pass::kBackwardData, false, Activation::kIdentity);
  const int before = ThreadCount();
  SetThreadCount(1);
  const Tensor y = Compute(c, forward), dx = Compute(c, backward);
  for (const int threads : {2, 3, 5}) {
    SetThreadCount(threads);
    CHECK(SameBits(Compute(c, forward), y));
    CHECK(SameBits(Compute(c, backward), dx));
  }
  SetThreadCount(before);
}

TEST_CASE("not every convolution is one on matrix tiles", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  Dice dice(4);
  const Case c(ImageConvolution({1, 5, 4, 4}), dice);
  ConvDescription d = c.Describe(Pass::kForward, true, Activation::kTanh);
  CHECK(MakeImplicitGemm(d) == nullptr);
  d = c.Describe(Pass::kBackwardWeight, true, Activation::kIdentity);
  CHECK(MakeImplicitGemm(d) == nullptr);
  d = c.Describe(Pass::kForward, true, Activation::kIdentity);
  d.dtype = DType::kF32;
  CHECK(MakeImplicitGemm(d) == nullptr);
  d.dtype = DType::kBF16;
  d.geometry.groups = 2;
  CHECK(MakeImplicitGemm(d) == nullptr);
}
