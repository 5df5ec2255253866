#include "sdk/backend/onednn/conv/lowered_conv.h"

#include <algorithm>
#include <cmath>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/conv/im2col.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

// Windows of one to three axes, with steps, gaps and edges of their own on each.
ConvGeometry RandomGeometry(Dice& dice) {
  ConvGeometry g;
  WindowGeometry& w = g.window;
  w.batch = dice.Between(1, 4);
  for (std::size_t a = static_cast<std::size_t>(dice.Between(0, 2)); a < 3; ++a) {
    w.kernel[a] = dice.Between(1, 3);
    w.stride[a] = dice.Between(1, 3);
    w.dilation[a] = dice.Between(1, 2);
    w.padding_begin[a] = dice.Between(0, 2);
    w.padding_end[a] = dice.Between(0, 2);
    const std::int64_t covered = w.dilation[a] * (w.kernel[a] - 1) + 1;
    w.input[a] = covered + dice.Between(0, 7);
    const std::int64_t room = w.input[a] + w.padding_begin[a] + w.padding_end[a] - covered;
    w.output[a] = room / w.stride[a] + 1;
  }
  g.input_channels = dice.Between(1, 40);
  g.output_channels = dice.Between(1, 40);
  return g;
}

ConvGeometry ImagesOf(std::int64_t batch, std::int64_t extent, std::int64_t kernel,
                      std::int64_t stride, std::int64_t inputs, std::int64_t outputs) {
  ConvGeometry g;
  const std::int64_t padding = kernel / 2, result = (extent - 1) / stride + 1;
  g.window.batch = batch;
  g.window.input = {1, extent, extent};
  g.window.output = {1, result, result};
  g.window.kernel = {1, kernel, kernel};
  g.window.stride = {1, stride, stride};
  g.window.padding_begin = g.window.padding_end = {0, padding, padding};
  g.input_channels = inputs;
  g.output_channels = outputs;
  return g;
}

Shape ActivationsOf(const WindowGeometry& w, const Spatial& extents, std::int64_t channels) {
  return {w.batch, extents[0], extents[1], extents[2], channels};
}

struct Case {
  ConvGeometry g;
  bool bias, accumulate;
  Activation activation;
  Tensor x, weight, b, dy;

  Case(const ConvGeometry& geometry, Dice& dice)
      : g(geometry),
        bias(dice.Flip()),
        accumulate(dice.Flip()),
        activation(dice.Flip() ? Activation::kRelu : Activation::kIdentity),
        x(RandomTensor(ActivationsOf(g.window, g.window.input, g.input_channels), dice.Seed())),
        weight(RandomTensor({g.output_channels, g.input_channels, g.window.kernel[0],
                             g.window.kernel[1], g.window.kernel[2]},
                            dice.Seed())),
        b(bias ? RandomTensor({g.output_channels}, dice.Seed()) : Tensor()),
        dy(RandomTensor(ActivationsOf(g.window, g.window.output, g.output_channels), dice.Seed())) {
  }

  ConvDescription Describe(Pass pass) const {
    ConvDescription d;
    d.geometry = g;
    d.pass = pass;
    d.bias = bias && pass != Pass::kBackwardData;
    d.accumulate = accumulate && pass == Pass::kBackwardWeight;
    if (pass == Pass::kForward) d.epilogue.activation = activation;
    return d;
  }
};

void Run(const ConvDescription& d, std::initializer_list<Argument> arguments) {
  const auto operation = MakeLoweredConv(d);
  REQUIRE(operation);
  const Scratch scratch(operation->ScratchBytes());
  operation->Run(arguments, scratch.get());
  CHECK(scratch.GuardIsIntact());
}

void CheckForward(Backends& b, const Case& c) {
  const ConvDescription d = c.Describe(Pass::kForward);
  const Tensor y = Full(c.dy.shape(), NAN), expected = Full(c.dy.shape(), NAN);
  const Scratch scratch(b.reference->conv().ForwardScratch(d.geometry, DType::kF32));
  b.reference->conv().Forward(d.geometry, c.x, c.weight, c.b, expected, d.epilogue, scratch.get());
  Run(d, {{Slot::kSource, c.x.raw()},
          {Slot::kWeight, c.weight.raw()},
          {Slot::kBias, c.b.raw()},
          {Slot::kDestination, y.raw()}});
  CHECK(RelativeError(y, expected) < kForward);
}

void CheckBackwardData(Backends& b, const Case& c) {
  const ConvDescription d = c.Describe(Pass::kBackwardData);
  const Tensor dx = Full(c.x.shape(), NAN), expected = Full(c.x.shape(), NAN);
  const Scratch scratch(b.reference->conv().BackwardDataScratch(d.geometry, DType::kF32));
  b.reference->conv().BackwardData(d.geometry, c.dy, c.weight, expected, scratch.get());
  Run(d, {{Slot::kDestinationGradient, c.dy.raw()},
          {Slot::kWeight, c.weight.raw()},
          {Slot::kSourceGradient, dx.raw()}});
  CHECK(RelativeError(dx, expected) < kForward);
}

void CheckBackwardWeight(Backends& b, const Case& c) {
  const ConvDescription d = c.Describe(Pass::kBackwardWeight);
  const auto start = [&](const Tensor& like) {
    return like ? Full(like.shape(), c.accumulate ? 0.5 : NAN) : Tensor();
  };
  const Tensor dweight = start(c.weight), dbias = start(c.b);
  const Tensor expected = start(c.weight), expected_bias = start(c.b);
  auto& conv = b.reference->conv();
  const Scratch scratch(conv.BackwardWeightScratch(d.geometry, DType::kF32, c.bias, c.accumulate));
  conv.BackwardWeight(d.geometry, c.dy, c.x, expected, expected_bias, c.accumulate, scratch.get());
  Run(d, {{Slot::kSource, c.x.raw()},
          {Slot::kDestinationGradient, c.dy.raw()},
          {Slot::kWeightGradient, dweight.raw()},
          {Slot::kBiasGradient, dbias.raw()}});
  CHECK(RelativeError(dweight, expected) < kForward);
  if (c.bias) CHECK(RelativeError(dbias, expected_bias) < kForward);
}

void Check(Backends& b, const ConvGeometry& g, Dice& dice) {
  const WindowGeometry& w = g.window;
  const Case c(g, dice);
  CAPTURE(w.batch, w.input, w.output, w.kernel, w.stride, w.dilation, w.padding_begin);
  CAPTURE(g.input_channels, g.output_channels, c.bias, c.accumulate);
  CheckForward(b, c);
  CheckBackwardData(b, c);
  CheckBackwardWeight(b, c);
}

}  // namespace

TEST_CASE("convolutions as products with their windows are those of the reference") {
  Backends b;
  Dice dice(1);
  for (int i = 0; i < 5 * kRepeats; ++i) Check(b, RandomGeometry(dice), dice);
}

TEST_CASE("a matrix of windows of more than some MB is multiplied in parts") {
  Backends b;
  Dice dice(2);
  const ConvGeometry g = ImagesOf(3, 31, 3, 1, 96, 70);  // the last part is smaller
  REQUIRE(4 * Im2col(g).rows() * Im2col(g).columns() > (8 << 20));
  Case c(g, dice);
  CHECK(MakeLoweredConv(c.Describe(Pass::kForward))->ScratchBytes() < (5 << 20));
  Check(b, g, dice);
  Check(b, ImagesOf(5, 17, 3, 2, 130, 260), dice);
}

TEST_CASE("single positions one after the other are no copy of the input") {
  Backends b;
  Dice dice(3);
  const ConvGeometry g = ImagesOf(2, 9, 1, 1, 70, 40);
  CHECK(Im2col(g).IsInput());
  CHECK_FALSE(Im2col(ImagesOf(2, 9, 1, 2, 70, 40)).IsInput());
  CHECK_FALSE(Im2col(ImagesOf(2, 9, 3, 1, 70, 40)).IsInput());
  Check(b, g, dice);
}

TEST_CASE("what is gathered goes back where it came from, with the same bits by any threads") {
  const ConvGeometry g = ImagesOf(2, 7, 3, 2, 37, 4);
  const Im2col windows(g);
  const Tensor matrix = RandomTensor({windows.rows(), windows.columns()}, 1);
  const Tensor x = RandomTensor(ActivationsOf(g.window, g.window.input, 37), 2);
  const Tensor edge = Full({37}, 0);
  const Tensor gathered = Full(matrix.shape(), NAN);
  windows.Gather(x.data<float>(), 0, windows.rows(), edge.data<float>(), gathered.data<float>());
  const auto scattered = [&](int threads) {
    SetThreadCount(threads);
    Tensor to = Full(x.shape(), 0);
    windows.Scatter(matrix.data<float>(), 0, windows.rows(), edge.data<float>(), to.data<float>());
    return to;
  };
  const int before = ThreadCount();
  const Tensor one = scattered(1);
  for (const int threads : {2, 3}) CHECK(SameBits(one, scattered(threads)));
  SetThreadCount(before);
  const auto dot = [](const Tensor& a, const Tensor& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
      sum += static_cast<double>(a.data<float>()[i]) * static_cast<double>(b.data<float>()[i]);
    }
    return sum;
  };
  CHECK(dot(gathered, matrix) == Approx(dot(x, one)));  // one is the other's transpose
}

TEST_CASE("products with windows are for f32, without groups, of not too many places") {
  Dice dice(4);
  const ConvDescription good = Case(ImagesOf(1, 4, 3, 1, 512, 512), dice).Describe(Pass::kForward);
  REQUIRE(MakeLoweredConv(good));
  ConvDescription d = good;
  d.dtype = DType::kBF16;
  CHECK_FALSE(MakeLoweredConv(d));
  d = good;
  d.geometry.groups = 2;
  CHECK_FALSE(MakeLoweredConv(d));
  d = good;
  d.geometry.window.kernel = {1, 9, 9};
  CHECK_FALSE(MakeLoweredConv(d));
}

TEST_CASE("products with windows pay with AVX2 alone") {
  Dice dice(5);
  const Case few(ImagesOf(1, 4, 3, 1, 512, 512), dice), many(ImagesOf(16, 32, 3, 1, 64, 64), dice);
  const bool avx2 = simd::BestInstructionSet() == simd::InstructionSet::kAvx2;
  for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeight}) {
    CHECK(LoweredConvPays(few.Describe(pass)) == avx2);
    CHECK(LoweredConvBeatsWinograd(few.Describe(pass)) == avx2);
    CHECK_FALSE(LoweredConvBeatsWinograd(many.Describe(pass)));
  }
  CHECK_FALSE(LoweredConvPays(many.Describe(Pass::kForward)));
}
