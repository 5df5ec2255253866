#include "sdk/backend/onednn/conv_weight_gradient.h"

#include "tests/backend/bf16_support.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::test;

namespace {

ConvGeometry RandomGeometry(Dice& dice) {
  ConvGeometry g;
  WindowGeometry& w = g.window;
  w.batch = dice.Between(1, 9);
  for (auto a = static_cast<std::size_t>(dice.Between(0, 2)); a < 3; ++a) {
    w.kernel[a] = dice.Between(1, 3);
    w.stride[a] = dice.Between(1, 4);  // also beyond the kernel
    w.dilation[a] = dice.Between(1, 2);
    w.padding_begin[a] = dice.Between(0, 2);
    w.padding_end[a] = dice.Between(0, 2);
    w.input[a] = dice.Between(5, 13);
    const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    w.output[a] = (w.input[a] + w.padding_begin[a] + w.padding_end[a] - reach) / w.stride[a] + 1;
  }
  g.input_channels = dice.Between(1, 140);
  g.output_channels = dice.Between(1, 140);
  return g;
}

Shape WithChannels(const WindowGeometry& w, const Spatial& s, std::int64_t channels) {
  return {w.batch, s[0], s[1], s[2], channels};
}

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
        x(WithChannels(g.window, g.window.input, g.input_channels), dice.Seed()),
        dy(WithChannels(g.window, g.window.output, g.output_channels), dice.Seed()),
        weight({g.output_channels, g.input_channels, g.window.kernel[0], g.window.kernel[1],
                g.window.kernel[2]}) {}
};

void Check(Backends& b, const Case& c, bool bias) {
  const WindowGeometry& w = c.g.window;
  CAPTURE(w.batch, w.input, w.output, w.kernel, w.stride, w.dilation, w.padding_begin,
          w.padding_end, c.g.input_channels, c.g.output_channels, bias);
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

ConvGeometry Image(std::int64_t batch, std::int64_t extent, std::int64_t in, std::int64_t out,
                   std::int64_t stride) {
  ConvGeometry g;
  g.window.batch = batch;
  g.window.input = {1, extent, extent};
  g.window.output = {1, (extent - 1) / stride + 1, (extent - 1) / stride + 1};
  g.window.kernel = {1, 3, 3};
  g.window.stride = {1, stride, stride};
  g.window.padding_begin = g.window.padding_end = {0, 1, 1};
  g.input_channels = in;
  g.output_channels = out;
  return g;
}

}  // namespace

TEST_CASE("gradients of convolutions' weights on matrix tiles, at random geometries") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 60; ++round) Check(b, Case(RandomGeometry(dice), dice), dice.Flip());
}

TEST_CASE("gradients of convolutions' weights, over more positions than are taken at a time") {
  FRUGAL_NEEDS_TILES();
  Backends b;
  Dice dice(2);
  Check(b, Case(Image(40, 8, 64, 128, 1), dice), true);
  Check(b, Case(Image(3, 13, 33, 520, 1), dice), false);
  Check(b, Case(Image(17, 23, 40, 7, 2), dice), true);
}

TEST_CASE("gradients of convolutions' weights have the same bits with any number of threads") {
  FRUGAL_NEEDS_TILES();
  Dice dice(3);
  const Case c(Image(12, 8, 70, 130, 1), dice);
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
