#include "sdk/backend/onednn/conv/lowered_conv.h"

#include <algorithm>
#include <cmath>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/conv/im2col.h"
#include "tests/backend/onednn/conv_support.h"
#include "tests/catch.h"
#include "tests/skip.h"

using namespace frugal;
using namespace frugal::onednn;
using namespace frugal::testing;

namespace {

bool HasAvx2Alone() { return simd::BestInstructionSet() == simd::InstructionSet::kAvx2; }

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
        x(RandomTensor(InputShape(g), dice.Seed())),
        weight(RandomTensor(WeightShape(g), dice.Seed())),
        b(bias ? RandomTensor({g.output_channels}, dice.Seed()) : Tensor()),
        dy(RandomTensor(OutputShape(g), dice.Seed())) {}

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
  const Case c(g, dice);
  FRUGAL_CAPTURE_CONVOLUTION(g);
  CAPTURE(c.bias, c.accumulate);
  CheckForward(b, c);
  CheckBackwardData(b, c);
  CheckBackwardWeight(b, c);
}

Tensor Computed(const Case& c, Pass pass, const Tensor& like, int threads) {
  SetThreadCount(threads);
  Tensor result = Full(like.shape(), 0.5);
  const Tensor bias = Full({c.g.output_channels}, 0.5);
  Run(c.Describe(pass), {{Slot::kSource, c.x.raw()},
                         {Slot::kWeight, c.weight.raw()},
                         {Slot::kBias, c.b.raw()},
                         {Slot::kDestination, result.raw()},
                         {Slot::kDestinationGradient, c.dy.raw()},
                         {Slot::kSourceGradient, result.raw()},
                         {Slot::kWeightGradient, result.raw()},
                         {Slot::kBiasGradient, bias.raw()}});
  return result;
}

}  // namespace

#define FRUGAL_NEEDS_AVX2()                                                         \
  FRUGAL_SKIP_UNLESS(simd::BestInstructionSet() != simd::InstructionSet::kBaseline, \
                     "this processor has no AVX2")

TEST_CASE("convolutions as products with their windows are those of the reference",
          "[needs-avx2]") {
  FRUGAL_NEEDS_AVX2();
  Backends b;
  Dice dice(1);
  for (int i = 0; i < 5 * kRepeats; ++i) Check(b, RandomConvolution(dice), dice);
}

TEST_CASE("a matrix of windows of more than some MB is multiplied in parts", "[needs-avx2]") {
  FRUGAL_NEEDS_AVX2();
  Backends b;
  Dice dice(2);
  const ConvGeometry g = ImageConvolution({3, 31, 96, 70, 3, 1});  // the last part is smaller
  REQUIRE(4 * Im2col(g).rows() * Im2col(g).columns() > (8 << 20));
  Case c(g, dice);
  CHECK(MakeLoweredConv(c.Describe(Pass::kForward))->ScratchBytes() < (5 << 20));
  Check(b, g, dice);
  Check(b, ImageConvolution({5, 17, 130, 260, 3, 2}), dice);
}

TEST_CASE("single positions one after the other are no copy of the input", "[needs-avx2]") {
  FRUGAL_NEEDS_AVX2();
  Backends b;
  Dice dice(3);
  const ConvGeometry g = ImageConvolution({2, 9, 70, 40, 1, 1});
  CHECK(Im2col(g).IsInput());
  CHECK_FALSE(Im2col(ImageConvolution({2, 9, 70, 40, 1, 2})).IsInput());
  CHECK_FALSE(Im2col(ImageConvolution({2, 9, 70, 40, 3, 1})).IsInput());
  Check(b, g, dice);
}

TEST_CASE("what is gathered goes back where it came from, with the same bits by any threads") {
  const ConvGeometry g = ImageConvolution({2, 7, 37, 4, 3, 2});
  const Im2col windows(g);
  const Tensor matrix = RandomTensor({windows.rows(), windows.columns()}, 1);
  const Tensor x = RandomTensor(InputShape(g), 2);
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

TEST_CASE("products with windows are for f32, without groups, of not too many places",
          "[needs-avx2]") {
  FRUGAL_NEEDS_AVX2();
  Dice dice(4);
  const ConvDescription good =
      Case(ImageConvolution({1, 4, 512, 512, 3, 1}), dice).Describe(Pass::kForward);
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

TEST_CASE("products with windows have the same bits with any number of threads", "[needs-avx2]") {
  FRUGAL_NEEDS_AVX2();
  Dice dice(7);
  const int before = ThreadCount();
  for (const ImageSizes& sizes : {ImageSizes{1, 4, 130, 300}, ImageSizes{3, 31, 96, 70}}) {
    const Case c(ImageConvolution(sizes), dice);
    const std::pair<Pass, const Tensor*> passes[] = {
        {Pass::kForward, &c.dy}, {Pass::kBackwardData, &c.x}, {Pass::kBackwardWeight, &c.weight}};
    for (const auto& [pass, like] : passes) {
      const Tensor one = Computed(c, pass, *like, 1);
      for (const int threads : {2, 3}) CHECK(SameBits(one, Computed(c, pass, *like, threads)));
    }
  }
  SetThreadCount(before);
}

TEST_CASE("products with windows pay with AVX2 alone") {
  Dice dice(5);
  const Case few(ImageConvolution({1, 4, 512, 512, 3, 1}), dice),
      many(ImageConvolution({16, 32, 64, 64, 3, 1}), dice);
  for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeight}) {
    CHECK(LoweredConvPays(few.Describe(pass)) == HasAvx2Alone());
    CHECK(LoweredConvBeatsWinograd(few.Describe(pass)) == HasAvx2Alone());
    CHECK_FALSE(LoweredConvBeatsWinograd(many.Describe(pass)));
  }
  CHECK_FALSE(LoweredConvPays(many.Describe(Pass::kForward)));
}

TEST_CASE("the backend's convolutions are those of the reference where products with windows pay") {
  Backends b;
  Dice dice(6);
  for (const ImageSizes& sizes : {ImageSizes{1, 8, 256, 256}, ImageSizes{2, 32, 64, 256, 3, 2},
                                  ImageSizes{1, 7, 128, 300, 1}}) {
    const ConvGeometry g = ImageConvolution(sizes);
    const Case c(g, dice);
    FRUGAL_CAPTURE_CONVOLUTION(g);
    CHECK(LoweredConvPays(c.Describe(Pass::kForward)) == HasAvx2Alone());
    for (const Activation kind : {Activation::kIdentity, Activation::kRelu, Activation::kTanh}) {
      const LinearEpilogue epilogue{kind, DefaultParameter(kind)};
      const Tensor y = Full(c.dy.shape(), NAN), expected = Full(c.dy.shape(), NAN);
      const Scratch scratch(b.fast->conv().ForwardScratch(g, DType::kF32));
      const Scratch plain(b.reference->conv().ForwardScratch(g, DType::kF32));
      b.fast->conv().Forward(g, c.x, c.weight, c.b, y, epilogue, scratch.get());
      b.reference->conv().Forward(g, c.x, c.weight, c.b, expected, epilogue, plain.get());
      CHECK(RelativeError(y, expected) < kForward);
      CHECK(scratch.GuardIsIntact());
    }
  }
}
