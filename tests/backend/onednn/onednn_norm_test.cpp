#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

constexpr double kEpsilon = 1e-5;

struct Results {
  Tensor y, mean, rstd, dx, dweight, dbias;

  Results(const Shape& shape, const Shape& statistics, std::int64_t channels, bool accumulate)
      : y(Full(shape, NAN)),
        mean(Full(statistics, NAN)),
        rstd(Full(statistics, NAN)),
        dx(Full(shape, NAN)),
        dweight(Full({channels}, accumulate ? 0.5 : NAN)),
        dbias(Full({channels}, accumulate ? 0.5 : NAN)) {}
};

void CheckClose(const Results& actual, const Results& expected) {
  CHECK(RelativeError(actual.y, expected.y) < kForward);
  CHECK(MaxError(actual.mean, expected.mean) < 1e-5);
  CHECK(RelativeError(actual.rstd, expected.rstd) < kForward);
  CHECK(RelativeError(actual.dx, expected.dx) < kGradient);
  CHECK(RelativeError(actual.dweight, expected.dweight) < kGradient);
  CHECK(RelativeError(actual.dbias, expected.dbias) < kGradient);
}

void CheckSame(const Results& a, const Results& b) {
  CHECK(SameBits(a.y, b.y));
  CHECK(SameBits(a.rstd, b.rstd));
  CHECK(SameBits(a.dx, b.dx));
  CHECK(SameBits(a.dweight, b.dweight));
  CHECK(SameBits(a.dbias, b.dbias));
}

struct Inputs {
  Tensor x, dy, weight, bias;
  bool relu = false, accumulate = false;
};

Inputs RandomInputs(const Shape& shape, Dice& dice) {
  const Shape channels{shape.back()};
  // Far from 0, so that a careless variance shows.
  const double center = dice.Flip() ? 20 : 0;
  Inputs in{RandomTensor(shape, dice.Seed(), DType::kF32, center - 1, center + 1),
            RandomTensor(shape, dice.Seed()),
            dice.Flip() ? RandomTensor(channels, dice.Seed(), DType::kF32, -2, 2) : Tensor(),
            dice.Flip() ? RandomTensor(channels, dice.Seed()) : Tensor()};
  in.relu = dice.Flip();
  in.accumulate = dice.Flip();
  return in;
}

// No gradient where rounding alone decides whether the relu cuts: there backends may differ.
void LeaveOutEdges(NormKernels& norm, const Inputs& in) {
  const Shape channels{in.x.shape().back()};
  const Tensor y = Uninitialized(in.x.shape());
  const Tensor mean = Uninitialized(channels), rstd = Uninitialized(channels);
  const Scratch scratch(norm.BatchScratch(in.x));
  norm.BatchForward(in.x, in.weight, in.bias, kEpsilon, false, y, mean, rstd, scratch.get());
  for (std::int64_t i = 0; i < y.size(); ++i) {
    if (std::abs(y.data<float>()[i]) < 1e-4f) in.dy.data<float>()[i] = 0;
  }
}

Results Batch(NormKernels& norm, const Inputs& in) {
  const Shape channels{in.x.shape().back()};
  Results r(in.x.shape(), channels, channels[0], in.accumulate);
  const Scratch scratch(norm.BatchScratch(in.x));
  norm.BatchForward(in.x, in.weight, in.bias, kEpsilon, in.relu, r.y, r.mean, r.rstd,
                    scratch.get());
  const Tensor again = Uninitialized(in.x.shape(), in.x.dtype());
  norm.BatchNormalize(in.x, in.weight, in.bias, r.mean, r.rstd, in.relu, again, scratch.get());
  CHECK(SameBits(again, r.y));
  norm.BatchBackward(in.dy, in.x, r.mean, r.rstd, in.weight, in.bias, in.relu, r.dx, r.dweight,
                     r.dbias, in.accumulate, scratch.get());
  CHECK(scratch.GuardIsIntact());
  return r;
}

Results Layer(NormKernels& norm, const Inputs& in) {
  const std::int64_t columns = in.x.shape().back();
  Results r(in.x.shape(), {in.x.shape().RowCount()}, columns, in.accumulate);
  norm.LayerForward(in.x, in.weight, in.bias, kEpsilon, r.y, r.mean, r.rstd);
  const Scratch scratch(norm.LayerBackwardScratch(in.x));
  norm.LayerBackward(in.dy, in.x, r.mean, r.rstd, in.weight, r.dx, r.dweight, r.dbias,
                     in.accumulate, scratch.get());
  CHECK(scratch.GuardIsIntact());
  return r;
}

Results Group(NormKernels& norm, const GroupNormGeometry& g, const Inputs& in) {
  Results r(in.x.shape(), {g.batch, g.groups}, g.channels, in.accumulate);
  norm.GroupForward(g, in.x, in.weight, in.bias, kEpsilon, r.y, r.mean, r.rstd);
  const Tensor again = Uninitialized(in.x.shape(), in.x.dtype());
  norm.GroupNormalize(g, in.x, in.weight, in.bias, r.mean, r.rstd, again);
  CHECK(SameBits(again, r.y));
  const Scratch scratch(norm.GroupBackwardScratch(g, DType::kF32));
  norm.GroupBackward(g, in.dy, in.x, r.mean, r.rstd, in.weight, r.dx, r.dweight, r.dbias,
                     in.accumulate, scratch.get());
  CHECK(scratch.GuardIsIntact());
  return r;
}

}  // namespace

TEST_CASE("fast batch norm agrees with the reference") {
  Backends b;
  Dice dice(1);
  for (int round = 0; round < 60; ++round) {
    const Shape shape{round % 10 == 0 ? dice.Between(3000, 20000) : dice.Between(4, 500),
                      round % 7 == 0 ? dice.Between(500, 600) : dice.Between(1, 130)};
    const Inputs in = RandomInputs(shape, dice);
    CAPTURE(shape[0], shape[1], in.relu, in.accumulate, bool(in.weight), bool(in.bias));
    LeaveOutEdges(b.reference->norm(), in);
    CheckClose(Batch(b.fast->norm(), in), Batch(b.reference->norm(), in));
  }
}

TEST_CASE("fast batch norm of one row and of far outliers agrees with the reference") {
  Backends b;
  Dice dice(2);
  Inputs in = RandomInputs({1, 7}, dice);
  CHECK(MaxError(Batch(b.fast->norm(), in).y, Batch(b.reference->norm(), in).y) < 1e-5);
  in = RandomInputs({5000, 20}, dice);
  for (int c = 0; c < 20; ++c) in.x.data<float>()[c] = 3000;  // the row that shifts the sums
  CHECK(RelativeError(Batch(b.fast->norm(), in).rstd, Batch(b.reference->norm(), in).rstd) <
        kGradient);
}

TEST_CASE("fast batch norm with given statistics agrees with the reference") {
  Backends b;
  Dice dice(3);
  for (const std::int64_t channels : {1, 3, 64, 130, 4096, 4097}) {
    const Inputs in = RandomInputs({9, channels}, dice);
    const Tensor mean = RandomTensor({channels}, 1);
    const Tensor variance = RandomTensor({channels}, 2, DType::kF32, 0.5, 2);
    Tensor y = Full(in.x.shape(), NAN), expected = Full(in.x.shape(), NAN);
    b.fast->norm().BatchInference(in.x, in.weight, in.bias, mean, variance, kEpsilon, in.relu, y);
    b.reference->norm().BatchInference(in.x, in.weight, in.bias, mean, variance, kEpsilon, in.relu,
                                       expected);
    CHECK(RelativeError(y, expected) < kForward);
  }
}

TEST_CASE("fast batch norm gradients with given statistics agree with the reference") {
  Backends b;
  Dice dice(7);
  for (int round = 0; round < 40; ++round) {
    const Shape shape{round % 10 == 0 ? dice.Between(3000, 9000) : dice.Between(1, 300),
                      round % 7 == 0 ? dice.Between(500, 600) : dice.Between(1, 130)};
    const Inputs in = RandomInputs(shape, dice);
    const Shape channels{shape[1]};
    const Tensor mean = RandomTensor(channels, 1);
    const Tensor variance = RandomTensor(channels, 2, DType::kF32, 0.5, 2);
    const Tensor y = RandomTensor(shape, 3);  // where its sign cuts
    const bool wants_weight = dice.Flip(), wants_bias = dice.Flip();
    CAPTURE(shape[0], shape[1], in.relu, in.accumulate, wants_weight, wants_bias);
    const auto run = [&](Backend& backend) {
      Results r(shape, channels, shape[1], in.accumulate);
      const Scratch scratch(backend.norm().BatchScratch(in.dy));
      backend.norm().BatchInferenceBackward(
          in.dy, wants_weight ? in.x : Tensor(), in.relu ? y : Tensor(), mean, variance, in.weight,
          in.bias, kEpsilon, in.relu, r.dx, wants_weight ? r.dweight : Tensor(),
          wants_bias ? r.dbias : Tensor(), in.accumulate, scratch.get());
      CHECK(scratch.GuardIsIntact());
      return r;
    };
    const Results expected = run(*b.reference), actual = run(*b.fast);
    CHECK(RelativeError(actual.dx, expected.dx) < kGradient);
    if (wants_weight) CHECK(RelativeError(actual.dweight, expected.dweight) < kGradient);
    if (wants_bias) CHECK(RelativeError(actual.dbias, expected.dbias) < kGradient);
    const Results again = run(*b.fast);
    CHECK(SameBits(again.dx, actual.dx));
    if (wants_weight) CHECK(SameBits(again.dweight, actual.dweight));
  }
}

TEST_CASE("fast layer norm agrees with the reference, in place too") {
  Backends b;
  Dice dice(4);
  for (int round = 0; round < 40; ++round) {
    const Shape shape{dice.Between(1, 300), dice.Between(2, round % 4 == 0 ? 1100 : 70)};
    const Inputs in = RandomInputs(shape, dice);
    CAPTURE(shape[0], shape[1], in.accumulate, bool(in.weight), bool(in.bias));
    const Results expected = Layer(b.reference->norm(), in);
    CheckClose(Layer(b.fast->norm(), in), expected);
    const Tensor gradient = Clone(in.dy);
    Tensor weight = Full({shape[1]}, in.accumulate ? 0.5 : 0);
    const Scratch scratch(b.fast->norm().LayerBackwardScratch(in.x));
    b.fast->norm().LayerBackward(gradient, in.x, expected.mean, expected.rstd, in.weight, gradient,
                                 weight, {}, in.accumulate, scratch.get());
    CHECK(RelativeError(gradient, expected.dx) < kGradient);
    CHECK(RelativeError(weight, expected.dweight) < kGradient);
  }
}

TEST_CASE("fast group norm agrees with the reference") {
  Backends b;
  Dice dice(5);
  for (int round = 0; round < 40; ++round) {
    GroupNormGeometry g;
    g.batch = round % 3 == 0 ? 1 : dice.Between(2, 5);
    g.groups = dice.Between(1, 9);
    g.channels = g.groups * dice.Between(1, round % 8 == 0 ? 500 : 20);
    g.size = dice.Between(2, round % 5 == 0 ? 2000 : 60);
    const Inputs in = RandomInputs({g.batch, g.size, g.channels}, dice);
    CAPTURE(g.batch, g.size, g.channels, g.groups, in.accumulate);
    CheckClose(Group(b.fast->norm(), g, in), Group(b.reference->norm(), g, in));
  }
}

TEST_CASE("fast norms repeat to the bit") {
  Backends b;
  Dice dice(6);
  const GroupNormGeometry g{1, 3000, 48, 6};
  const Inputs in = RandomInputs({1, 3000, 48}, dice);
  const Results batch = Batch(b.fast->norm(), in), layer = Layer(b.fast->norm(), in),
                group = Group(b.fast->norm(), g, in);
  for (int i = 0; i < kRepeats; ++i) {
    CheckSame(Batch(b.fast->norm(), in), batch);
    CheckSame(Layer(b.fast->norm(), in), layer);
    CheckSame(Group(b.fast->norm(), g, in), group);
  }
}
