#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

ConvGeometry RandomSteps(Dice& dice) {
  ConvGeometry g;
  WindowGeometry& w = g.window;
  w.batch = dice.Between(3, 8);
  const std::int64_t kernel = dice.Between(1, 2), stride = dice.Between(1, 2);
  const std::int64_t input = dice.Between(4, 9);
  w.kernel = {1, kernel, kernel};
  w.stride = {1, stride, stride};
  w.input = {1, input, input};
  w.output = {1, (input - kernel) / stride + 1, (input - kernel) / stride + 1};
  g.input_channels = dice.Between(2, 16);
  g.output_channels = dice.Between(2, 16);
  return g;
}

struct ConvGradients {
  Tensor input, weight;
};

ConvGradients Compute(Backends& b, const ConvGeometry& g, const Tensor& x, const Tensor& dy,
                      const Tensor& weight) {
  auto& conv = b.fast->conv();
  const ConvGradients result{Full(x.shape(), NAN), Full(weight.shape(), NAN)};
  const Scratch scratch(std::max(conv.BackwardDataScratch(g, DType::kF32),
                                 conv.BackwardWeightScratch(g, DType::kF32, false, false)));
  conv.BackwardData(g, dy, weight, result.input, scratch.get());
  conv.BackwardWeight(g, dy, x, result.weight, {}, false, scratch.get());
  return result;
}

}  // namespace

// Run once more with the instructions of older processors (tests/CMakeLists.txt): see AvoidRace.
TEST_CASE("gradients of convolutions have the same bits each time") {
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 60; ++round) {
    const ConvGeometry g = RandomSteps(dice);
    const WindowGeometry& w = g.window;
    CAPTURE(w.batch, w.input, w.kernel, w.stride, g.input_channels, g.output_channels);
    const auto shape = [&](const Spatial& extents, std::int64_t channels) {
      return Shape{w.batch, extents[1], extents[2], channels};
    };
    const Tensor x = RandomTensor(shape(w.input, g.input_channels), dice.Seed());
    const Tensor dy = RandomTensor(shape(w.output, g.output_channels), dice.Seed());
    const Tensor weight =
        RandomTensor({g.output_channels, g.input_channels, w.kernel[1], w.kernel[2]}, dice.Seed());
    const ConvGradients first = Compute(b, g, x, dy, weight);
    for (int again = 0; again < 20; ++again) {
      const ConvGradients next = Compute(b, g, x, dy, weight);
      CHECK(SameBits(next.input, first.input));
      CHECK(SameBits(next.weight, first.weight));
    }
  }
}
