#include "sdk/core/error.h"
#include "tests/backend/onednn/bf16_support.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

Tensor Bf16(const Shape& shape) { return Uninitialized(shape, DType::kBF16); }
Tensor F64(const Shape& shape) { return Uninitialized(shape, DType::kF64); }

struct Norm {
  Tensor y, mean, rstd, dx, dweight, dbias;
  Norm(const Shape& shape, const Shape& statistics, std::int64_t channels, bool bf16)
      : y(bf16 ? Bf16(shape) : F64(shape)),
        mean(bf16 ? Uninitialized(statistics) : F64(statistics)),
        rstd(bf16 ? Uninitialized(statistics) : F64(statistics)),
        dx(bf16 ? Bf16(shape) : F64(shape)),
        dweight(bf16 ? Uninitialized({channels}) : F64({channels})),
        dbias(bf16 ? Uninitialized({channels}) : F64({channels})) {}
};

void CheckAgree(const Norm& fast, const Norm& reference) {
  CHECK(RelativeError(fast.y, reference.y) < kBf16);
  CHECK(RelativeError(fast.mean, reference.mean) < 1e-5);
  CHECK(RelativeError(fast.rstd, reference.rstd) < 1e-5);
  CHECK(RelativeError(fast.dx, reference.dx) < kBf16);
  CHECK(RelativeError(fast.dweight, reference.dweight) < kBf16Sums);
  CHECK(RelativeError(fast.dbias, reference.dbias) < kBf16Sums);
}

void RunLayer(Backend& backend, const Tensor& x, const Tensor& dy, const Tensor& weight,
              const Tensor& bias, const Norm& n) {
  backend.norm().LayerForward(x, weight, bias, 1e-5, n.y, n.mean, n.rstd);
  const Scratch scratch(backend.norm().LayerBackwardScratch(x));
  backend.norm().LayerBackward(dy, x, n.mean, n.rstd, weight, n.dx, n.dweight, n.dbias, false,
                               scratch.get());
  CHECK(scratch.GuardIsIntact());
}

void RunGroup(Backend& backend, const GroupNormGeometry& g, const Tensor& x, const Tensor& dy,
              const Tensor& weight, const Tensor& bias, const Norm& n) {
  backend.norm().GroupForward(g, x, weight, bias, 1e-5, n.y, n.mean, n.rstd);
  const Tensor again = Uninitialized(x.shape(), x.dtype());
  backend.norm().GroupNormalize(g, x, weight, bias, n.mean, n.rstd, again);
  CHECK(SameBits(again, n.y));
  const Scratch scratch(backend.norm().GroupBackwardScratch(g, x.dtype()));
  backend.norm().GroupBackward(g, dy, x, n.mean, n.rstd, weight, n.dx, n.dweight, n.dbias, false,
                               scratch.get());
  CHECK(scratch.GuardIsIntact());
}

void RunBatch(Backend& backend, const Tensor& x, const Tensor& dy, const Tensor& weight,
              const Tensor& bias, const Norm& n) {
  const Scratch scratch(backend.norm().BatchScratch(x));
  backend.norm().BatchForward(x, weight, bias, 1e-5, true, n.y, n.mean, n.rstd, scratch.get());
  backend.norm().BatchBackward(dy, x, n.mean, n.rstd, weight, bias, true, n.dx, n.dweight, n.dbias,
                               false, scratch.get());
  CHECK(scratch.GuardIsIntact());
}

}  // namespace

TEST_CASE("bf16 norms agree with f64 on the same numbers") {
  Backends b;
  Dice dice(3);
  for (int round = 0; round < 12; ++round) {
    const std::int64_t groups = dice.Between(1, 4), channels = groups * dice.Between(2, 40);
    const std::int64_t batch = dice.Between(1, 4), size = dice.Between(2, 60);
    const Shape shape{batch, size, channels};
    const Rounded x(shape, dice.Seed(), 1, 4), dy(shape, dice.Seed());
    const Exact weight({channels}, dice.Seed(), 0.5, 2), bias({channels}, dice.Seed());
    CAPTURE(batch, size, channels, groups);
    const auto compare = [&](const Shape& statistics, const auto& run) {
      const Norm fast(shape, statistics, channels, true);
      const Norm reference(shape, statistics, channels, false);
      run(*b.fast, x.bf16, dy.bf16, weight.f32, bias.f32, fast);
      run(*b.reference, x.f64, dy.f64, weight.f64, bias.f64, reference);
      CheckAgree(fast, reference);
    };
    compare({batch * size}, RunLayer);
    compare({channels}, RunBatch);
    const GroupNormGeometry g{.batch = batch, .size = size, .channels = channels, .groups = groups};
    compare({batch, groups},
            [&](Backend& backend, const auto&... parts) { RunGroup(backend, g, parts...); });
  }
}

TEST_CASE("bf16 elementwise kernels agree with f64 on the same numbers") {
  Backends b;
  for (const std::int64_t n : {1, 15, 1000, 70000}) {
    const Rounded x({n}, 1, -2.9, 2.9), other({n}, 2);  // not hardswish's corners
    const Tensor y = Bf16({n}), expected = F64({n});
    CAPTURE(n);
    const auto check = [&] { CHECK(RelativeError(y, expected) < kBf16); };
    b.fast->elementwise().Add(x.bf16, other.bf16, y);
    b.reference->elementwise().Add(x.f64, other.f64, expected);
    check();
    b.fast->elementwise().Scale(x.bf16, 0.3, y);
    b.reference->elementwise().Scale(x.f64, 0.3, expected);
    check();
    b.fast->elementwise().Dropout(x.bf16, 0.25, 7, y);
    b.reference->elementwise().Dropout(x.f64, 0.25, 7, expected);
    check();
    for (int kind = 0; kind < static_cast<int>(kActivationCount); ++kind) {
      const auto activation = static_cast<Activation>(kind);
      const double parameter = DefaultParameter(activation);
      CAPTURE(NameOf(activation));
      b.fast->elementwise().ActivationForward(activation, parameter, x.bf16, y);
      b.reference->elementwise().ActivationForward(activation, parameter, x.f64, expected);
      check();
      // The derivative is read from rounded numbers: give both backends the same.
      const bool from_output = DerivesFromOutput(activation);
      const Tensor kept = from_output ? Clone(y) : x.bf16;
      const Tensor kept_exact = MakeTensor({n}, Values(kept), DType::kF64);
      b.fast->elementwise().ActivationBackward(activation, parameter, other.bf16, kept, y);
      b.reference->elementwise().ActivationBackward(activation, parameter, other.f64, kept_exact,
                                                    expected);
      check();
    }
  }
}

TEST_CASE("copies between f32 and bf16 round once and widen exactly") {
  Backends b;
  const Exact x({3001}, 1, -9, 9);
  const Tensor narrow = Bf16({3001}), wide = Uninitialized({3001});
  b.fast->elementwise().Copy(x.f32, narrow);
  const Tensor expected = MakeTensor({3001}, Values(x.f32), DType::kBF16);
  CHECK(Values(narrow) == Values(expected));
  b.fast->elementwise().Copy(narrow, wide);
  CHECK(Values(wide) == Values(expected));
}

TEST_CASE("bf16 losses agree with f64 on the same numbers") {
  Backends b;
  Dice dice(4);
  for (const std::int64_t classes : {2, 10, 300, 3000}) {
    const std::int64_t rows = 9;
    const Rounded logits({rows, classes}, dice.Seed(), -6, 6);
    std::vector<double> labels(static_cast<std::size_t>(rows));
    for (double& label : labels) label = static_cast<double>(dice.Between(0, classes - 1));
    labels[3] = -100;
    const Tensor targets = MakeTensor({rows}, labels, DType::kI64);
    const LossKernels::CrossEntropyOptions options{.label_smoothing = dice.Flip() ? 0.1 : 0};
    const Tensor lse = Uninitialized({rows}), loss = Uninitialized({1});
    const Tensor lse64 = F64({rows}), loss64 = F64({1});
    CAPTURE(classes, options.label_smoothing);
    b.fast->loss().CrossEntropyForward(logits.bf16, targets, options, lse, loss);
    b.reference->loss().CrossEntropyForward(logits.f64, targets, options, lse64, loss64);
    CHECK(RelativeError(loss, loss64) < 1e-5);
    CHECK(RelativeError(lse, lse64) < 1e-5);
    CHECK(b.fast->loss().CountCorrect(logits.bf16, targets) ==
          b.reference->loss().CountCorrect(logits.f64, targets));
    const Tensor expected = F64(logits.f64.shape());
    b.reference->loss().CrossEntropyBackward(Full({1}, 2, DType::kF64), logits.f64, targets,
                                             options, lse64, expected);
    b.fast->loss().CrossEntropyBackward(Full({1}, 2), logits.bf16, targets, options, lse,
                                        logits.bf16);
    CHECK(RelativeError(logits.bf16, expected) < kBf16);
    const Rounded x({rows, classes}, dice.Seed(), -6, 6);
    const Tensor y = Bf16(x.bf16.shape()), y64 = F64(x.f64.shape());
    b.fast->loss().SoftmaxForward(x.bf16, false, y);
    b.reference->loss().SoftmaxForward(x.f64, false, y64);
    CHECK(RelativeError(y, y64) < kBf16);
  }
}

TEST_CASE("bf16 convolutions agree with f64 on the same numbers") {
  Backends b;
  Dice dice(5);
  for (int round = 0; round < 12; ++round) {
    ConvGeometry g;
    g.groups = round % 4 == 3 ? 2 : 1;
    g.input_channels = g.groups * dice.Between(1, 20);
    g.output_channels = g.groups * dice.Between(1, 20);
    const std::int64_t side = dice.Between(5, 12), kernel = dice.Between(1, 3);
    const std::int64_t stride = dice.Between(1, 2), padding = dice.Between(0, 1);
    const std::int64_t out = (side + 2 * padding - kernel) / stride + 1;
    g.window.batch = dice.Between(1, 3);
    g.window.input = {1, side, side};
    g.window.output = {1, out, out};
    g.window.kernel = {1, kernel, kernel};
    g.window.stride = {1, stride, stride};
    g.window.padding_begin = g.window.padding_end = {0, padding, padding};
    const Shape in{g.window.batch, side, side, g.input_channels};
    const Shape result{g.window.batch, out, out, g.output_channels};
    const Shape weights{g.output_channels, g.input_channels / g.groups, kernel, kernel};
    const Rounded x(in, dice.Seed()), dy(result, dice.Seed()), rounded(weights, dice.Seed());
    const Tensor w = MakeTensor(weights, Values(rounded.f64));
    const Exact bias({g.output_channels}, dice.Seed());
    CAPTURE(side, kernel, stride, padding, g.groups, g.input_channels, g.output_channels);
    const auto run = [&](Backend& backend, const Tensor& from, const Tensor& gradient,
                         const Tensor& weight, const Tensor& shift, const Tensor& y,
                         const Tensor& dx, const Tensor& dw, const Tensor& db) {
      const Scratch forward(backend.conv().ForwardScratch(g, from.dtype()));
      backend.conv().Forward(g, from, weight, shift, y, {}, forward.get());
      const Scratch data(backend.conv().BackwardDataScratch(g, from.dtype()));
      backend.conv().BackwardData(g, gradient, weight, dx, data.get());
      const Scratch parts(backend.conv().BackwardWeightScratch(g, from.dtype(), true, false));
      backend.conv().BackwardWeight(g, gradient, from, dw, db, false, parts.get());
    };
    const Tensor y = Bf16(result), dx = Bf16(in), dw = Uninitialized(weights);
    const Tensor db = Uninitialized({g.output_channels});
    const Tensor y64 = F64(result), dx64 = F64(in), dw64 = F64(weights);
    const Tensor db64 = F64({g.output_channels});
    run(*b.fast, x.bf16, dy.bf16, w, bias.f32, y, dx, dw, db);
    run(*b.reference, x.f64, dy.f64, rounded.f64, bias.f64, y64, dx64, dw64, db64);
    CHECK(RelativeError(y, y64) < kBf16);
    CHECK(RelativeError(dx, dx64) < kBf16);
    CHECK(RelativeError(dw, dw64) < kBf16);
    CHECK(RelativeError(db, db64) < kBf16);
  }
}

TEST_CASE("cross entropy in place is forward, backward and counting at once") {
  Backends b;
  Dice dice(6);
  for (const std::int64_t classes : {2, 17, 1000}) {
    const std::int64_t rows = 12;
    std::vector<double> labels(static_cast<std::size_t>(rows));
    for (double& label : labels) label = static_cast<double>(dice.Between(0, classes - 1));
    labels[5] = -100;
    const Tensor targets = MakeTensor({rows}, labels, DType::kI64);
    const LossKernels::CrossEntropyOptions options{.label_smoothing = dice.Flip() ? 0.1 : 0};
    for (Backend* backend : {b.fast.get(), b.reference.get()}) {
      CAPTURE(classes, backend->name());
      const Tensor logits = RandomTensor({rows, classes}, dice.Seed(), DType::kF32, -5, 5);
      const Tensor lse = Uninitialized({rows}), loss = Uninitialized({1});
      const Tensor expected = Uninitialized(logits.shape());
      LossKernels& kernels = backend->loss();
      kernels.CrossEntropyForward(logits, targets, options, lse, loss);
      kernels.CrossEntropyBackward(Full({1}, 3), logits, targets, options, lse, expected);
      const std::int64_t correct = kernels.CountCorrect(logits, targets);
      const double counted = static_cast<double>(rows - 1);
      const auto sums = kernels.CrossEntropyInPlace(logits, targets, options, 3 / counted);
      CHECK(sums.loss == Approx(counted * Value(loss)).epsilon(1e-5));
      CHECK(sums.correct == correct);
      CHECK(RelativeError(logits, expected) < 1e-6);
      const Tensor wrong = MakeTensor({1}, std::vector<double>{7000}, DType::kI64);
      CHECK_THROWS_AS(kernels.CrossEntropyInPlace(logits.Narrow(0, 1), wrong, options, 1),
                      DataError);
    }
  }
}
