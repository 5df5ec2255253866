#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

PoolGeometry RandomGeometry(Dice& dice) {
  PoolGeometry g;
  WindowGeometry& w = g.window;
  w.batch = dice.Between(1, 3);
  g.channels = dice.Between(1, 40);
  g.count_padding = dice.Flip();
  for (std::size_t i = dice.Between(0, 5) == 0 ? 0 : 1; i < 3; ++i) {
    w.kernel[i] = dice.Between(1, 4);
    w.stride[i] = dice.Between(1, 5);
    w.dilation[i] = dice.Between(0, 4) == 0 ? 2 : 1;
    w.padding_begin[i] = dice.Between(0, w.kernel[i] / 2);
    w.padding_end[i] = dice.Between(0, w.kernel[i] / 2);
    w.input[i] = dice.Between(8, 13);
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1;
    w.output[i] = (w.input[i] + w.padding_begin[i] + w.padding_end[i] - reach) / w.stride[i] + 1;
  }
  return g;
}

struct Results {
  Tensor maximum, maximum_only, maximum_gradient, average, average_gradient;
};

Shape WithChannels(const PoolGeometry& g, const Spatial& s) {
  return {g.window.batch, s[0], s[1], s[2], g.channels};
}

Results Run(PoolKernels& pool, const PoolGeometry& g, const Tensor& x, const Tensor& dy) {
  Results r{Full(dy.shape(), NAN), Full(dy.shape(), NAN), Full(x.shape(), NAN),
            Full(dy.shape(), NAN), Full(x.shape(), NAN)};
  const Scratch scratch(pool.Scratch(g, DType::kF32));
  const Tensor index = Uninitialized({pool.MaxIndexBytes(g, DType::kF32)}, DType::kU8);
  pool.MaxForward(g, x, r.maximum, index, scratch.get());
  pool.MaxForward(g, x, r.maximum_only, {}, scratch.get());
  pool.MaxBackward(g, dy, index, r.maximum_gradient, scratch.get());
  pool.AverageForward(g, x, r.average, scratch.get());
  pool.AverageBackward(g, dy, r.average_gradient, scratch.get());
  CHECK(scratch.GuardIsIntact());
  return r;
}

// Few different values, so that windows hold equal maxima.
Tensor Ties(const Shape& shape, Dice& dice) {
  Tensor x = Uninitialized(shape);
  for (float& v : x.values<float>()) v = static_cast<float>(dice.Between(-2, 2));
  return x;
}

}  // namespace

TEST_CASE("oneDNN pooling agrees with the reference, equal maxima included") {
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 60; ++round) {
    const PoolGeometry g = RandomGeometry(dice);
    const WindowGeometry& w = g.window;
    const Tensor x = round % 2 == 0 ? Ties(WithChannels(g, w.input), dice)
                                    : RandomTensor(WithChannels(g, w.input), dice.Seed());
    const Tensor dy = RandomTensor(WithChannels(g, w.output), dice.Seed());
    CAPTURE(w.batch, w.input, w.output, w.kernel, w.stride, w.dilation, w.padding_begin,
            w.padding_end, g.channels, g.count_padding);
    const Results expected = Run(b.reference->pool(), g, x, dy);
    const Results actual = Run(b.fast->pool(), g, x, dy);
    CHECK(SameBits(actual.maximum, expected.maximum));
    CHECK(SameBits(actual.maximum_only, expected.maximum));
    CHECK(RelativeError(actual.maximum_gradient, expected.maximum_gradient) < kForward);
    CHECK(RelativeError(actual.average, expected.average) < kForward);
    CHECK(RelativeError(actual.average_gradient, expected.average_gradient) < kForward);
  }
}

TEST_CASE("oneDNN adaptive pooling agrees with the reference, even or not") {
  Backends b;
  Dice dice(2);
  for (int round = 0; round < 30; ++round) {
    PoolGeometry g;
    g.window.batch = dice.Between(1, 3);
    g.channels = dice.Between(1, 40);
    g.window.output = {1, dice.Between(1, 4), dice.Between(1, 4)};
    g.window.input = {1, dice.Between(1, 12), dice.Between(1, 12)};
    if (round % 2 == 0) {
      g.window.input[1] = 3 * g.window.output[1];
      g.window.input[2] = 2 * g.window.output[2];
    }
    CAPTURE(g.window.input, g.window.output, g.channels);
    const Tensor x = RandomTensor(WithChannels(g, g.window.input), dice.Seed());
    const Tensor dy = RandomTensor(WithChannels(g, g.window.output), dice.Seed());
    Tensor y = Full(dy.shape(), NAN), expected = Full(dy.shape(), NAN);
    b.fast->pool().AdaptiveForward(g, x, y);
    b.reference->pool().AdaptiveForward(g, x, expected);
    CHECK(RelativeError(y, expected) < kForward);
    Tensor dx = Full(x.shape(), NAN), expected_dx = Full(x.shape(), NAN);
    b.fast->pool().AdaptiveBackward(g, dy, dx);
    b.reference->pool().AdaptiveBackward(g, dy, expected_dx);
    CHECK(RelativeError(dx, expected_dx) < kForward);
  }
}
