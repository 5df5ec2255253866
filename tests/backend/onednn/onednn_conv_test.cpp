#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

// Fills in the output extents.
ConvGeometry Finish(ConvGeometry g) {
  WindowGeometry& w = g.window;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1;
    const std::int64_t padded = w.input[i] + w.padding_begin[i] + w.padding_end[i];
    w.output[i] = (padded - reach) / w.stride[i] + 1;
  }
  return g;
}

ConvGeometry RandomGeometry(Dice& dice, std::size_t axes) {
  ConvGeometry g;
  g.window.batch = dice.Between(1, 3);
  for (std::size_t i = 3 - axes; i < 3; ++i) {
    g.window.kernel[i] = dice.Between(1, 4);
    g.window.stride[i] = dice.Between(1, 5);  // also beyond the kernel
    g.window.dilation[i] = dice.Between(1, 2);
    g.window.padding_begin[i] = dice.Between(0, 2);
    g.window.padding_end[i] = dice.Between(0, 2);
    g.window.input[i] = dice.Between(8, 13);
  }
  const std::int64_t width = dice.Between(1, 20);
  const std::int64_t kinds = dice.Between(0, 3);
  g.groups = kinds == 0 ? width : kinds == 1 ? 3 : 1;  // depthwise, grouped, dense
  g.input_channels = kinds == 0 ? width : kinds == 1 ? 3 * dice.Between(1, 6) : width;
  g.output_channels = g.groups * dice.Between(1, kinds == 0 ? 2 : 20);
  return Finish(g);
}

Shape WithChannels(const WindowGeometry& w, const Spatial& s, std::int64_t channels) {
  return {w.batch, s[0], s[1], s[2], channels};
}

struct Tensors {
  Tensor x, weight, bias, dy;
};

Tensors RandomTensors(const ConvGeometry& g, Dice& dice) {
  const WindowGeometry& w = g.window;
  return {RandomTensor(WithChannels(w, w.input, g.input_channels), dice.Seed()),
          RandomTensor({g.output_channels, g.input_channels / g.groups, w.kernel[0], w.kernel[1],
                        w.kernel[2]},
                       dice.Seed()),
          dice.Flip() ? RandomTensor({g.output_channels}, dice.Seed()) : Tensor(),
          RandomTensor(WithChannels(w, w.output, g.output_channels), dice.Seed())};
}

struct Results {
  Tensor y, dx, dweight, dbias;
};

Results Run(Backend& backend, const ConvGeometry& g, const Tensors& t, LinearEpilogue epilogue,
            bool accumulate) {
  ConvKernels& conv = backend.conv();
  const double before = accumulate ? 0.5 : NAN;
  Results r{Full(t.dy.shape(), NAN), Full(t.x.shape(), NAN), Full(t.weight.shape(), before),
            t.bias ? Full(t.bias.shape(), before) : Tensor()};
  const Scratch forward(conv.ForwardScratch(g, DType::kF32));
  conv.Forward(g, t.x, t.weight, t.bias, r.y, epilogue, forward.get());
  const Scratch data(conv.BackwardDataScratch(g, DType::kF32));
  conv.BackwardData(g, t.dy, t.weight, r.dx, data.get());
  const Scratch weight(
      conv.BackwardWeightScratch(g, DType::kF32, static_cast<bool>(t.bias), accumulate));
  conv.BackwardWeight(g, t.dy, t.x, r.dweight, r.dbias, accumulate, weight.get());
  CHECK(forward.GuardIsIntact());
  CHECK(data.GuardIsIntact());
  CHECK(weight.GuardIsIntact());
  return r;
}

void Compare(Backends& b, const ConvGeometry& g, Dice& dice) {
  const Tensors t = RandomTensors(g, dice);
  const bool relu = dice.Flip();
  const LinearEpilogue epilogue{relu ? Activation::kRelu : Activation::kIdentity, 0};
  const WindowGeometry& w = g.window;
  CAPTURE(w.batch, w.input, w.output, w.kernel, w.stride, w.dilation, w.padding_begin,
          w.padding_end, g.input_channels, g.output_channels, g.groups, relu, bool(t.bias));
  for (const bool accumulate : {false, true}) {
    const Results expected = Run(*b.reference, g, t, epilogue, accumulate);
    const Results actual = Run(*b.fast, g, t, epilogue, accumulate);
    CHECK(RelativeError(actual.y, expected.y) < kForward);
    CHECK(RelativeError(actual.dx, expected.dx) < kGradient);
    CHECK(RelativeError(actual.dweight, expected.dweight) < kGradient);
    if (t.bias) CHECK(RelativeError(actual.dbias, expected.dbias) < kGradient);
  }
}

ConvGeometry Image(std::int64_t batch, std::int64_t extent, std::int64_t in, std::int64_t out,
                   std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  ConvGeometry g;
  g.window.batch = batch;
  g.window.input = {1, extent, extent};
  g.window.kernel = {1, kernel, kernel};
  g.window.stride = {1, stride, stride};
  g.window.padding_begin = g.window.padding_end = {0, padding, padding};
  g.input_channels = in;
  g.output_channels = out;
  return Finish(g);
}

}  // namespace

TEST_CASE("oneDNN convolutions agree with the reference at random geometries") {
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 45; ++round) {
    const std::size_t axes = round % 9 == 0 ? 3 : round % 3 == 0 ? 1 : 2;
    Compare(b, RandomGeometry(dice, axes), dice);
  }
}

TEST_CASE("oneDNN convolutions agree with the reference in the shapes of networks") {
  Backends b;
  Dice dice(2);
  Compare(b, Image(2, 28, 1, 32, 3, 1, 1), dice);
  Compare(b, Image(2, 14, 32, 64, 3, 1, 1), dice);
  Compare(b, Image(1, 16, 64, 128, 1, 2, 0), dice);
  Compare(b, Image(1, 32, 3, 64, 7, 2, 3), dice);
  Compare(b, Image(1, 1, 1, 1, 1, 1, 0), dice);
}

TEST_CASE("oneDNN convolutions repeat to the bit") {
  Backends b;
  Dice dice(3);
  const ConvGeometry g = Image(5, 14, 32, 48, 3, 1, 1);
  const Tensors t = RandomTensors(g, dice);
  const Results first = Run(*b.fast, g, t, {Activation::kRelu, 0}, true);
  for (int i = 0; i < kRepeats; ++i) {
    const Results again = Run(*b.fast, g, t, {Activation::kRelu, 0}, true);
    CHECK(SameBits(again.y, first.y));
    CHECK(SameBits(again.dx, first.dx));
    CHECK(SameBits(again.dweight, first.dweight));
  }
}

TEST_CASE("oneDNN convolution of an empty batch is the reference's") {
  Backends b;
  const ConvGeometry g = Image(0, 8, 3, 4, 3, 1, 1);
  Dice dice(4);
  const Results r = Run(*b.fast, g, RandomTensors(g, dice), {}, false);
  CHECK(r.y.size() == 0);
  CHECK(MaxError(r.dweight, Full(r.dweight.shape(), 0)) == 0);
}
