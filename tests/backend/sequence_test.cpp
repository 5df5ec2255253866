#include "sdk/backend/eigen/sequence/sequence.h"

#include <cmath>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/activation_range.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::RandomTensor;
using testing::SameBits;
using testing::Uninitialized;
using testing::Values;

constexpr double kRmsEpsilon = 1e-3;

double SequenceTolerance(DType dtype) { return dtype == DType::kF64 ? 1e-13 : 1e-5; }

// Cosines and sines of `positions` times `pairs` different angles.
std::pair<Tensor, Tensor> Tables(std::int64_t positions, std::int64_t pairs, DType dtype) {
  std::vector<double> cosines, sines;
  for (std::int64_t i = 0; i < positions * pairs; ++i) {
    cosines.push_back(std::cos(static_cast<double>(i) * 0.37));
    sines.push_back(std::sin(static_cast<double>(i) * 0.37));
  }
  return {testing::MakeTensor({positions, pairs}, cosines, dtype),
          testing::MakeTensor({positions, pairs}, sines, dtype)};
}

// Every pair (x, y) as the complex number x + i y times e^(i angle).
std::vector<double> Turned(const RotaryGeometry& g, const Tensor& x, double sign) {
  std::vector<double> values = Values(x);
  const std::int64_t positions = x.shape()[1];
  const std::int64_t pairs = g.rotary_size / 2;
  const bool halves = g.pairing == RotaryPairing::kHalves;
  for (std::int64_t row = 0; row < x.shape()[0] * positions; ++row) {
    for (std::int64_t i = 0; i < g.heads * pairs; ++i) {
      const std::int64_t pair = i % pairs;
      const std::int64_t head = row * x.shape()[2] + g.offset + i / pairs * g.head_size;
      const double angle = sign * 0.37 * static_cast<double>(row % positions * pairs + pair);
      double& first = values[static_cast<std::size_t>(head + (halves ? pair : 2 * pair))];
      double& second =
          values[static_cast<std::size_t>(head + (halves ? pair + pairs : 2 * pair + 1))];
      const double kept = first;
      first = kept * std::cos(angle) - second * std::sin(angle);
      second = kept * std::sin(angle) + second * std::cos(angle);
    }
  }
  return values;
}

TEST_CASE("eigen rotary embedding turns pairs and nothing else") {
  EigenSequenceKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const auto pairing = GENERATE(RotaryPairing::kHalves, RotaryPairing::kNeighbours);
  const bool inverse = GENERATE(false, true);
  const auto g = GENERATE_COPY(
      RotaryGeometry{.offset = 0, .heads = 1, .head_size = 2, .rotary_size = 2, .pairing = pairing},
      RotaryGeometry{.offset = 5, .heads = 3, .head_size = 8, .rotary_size = 8, .pairing = pairing},
      RotaryGeometry{.offset = 1, .heads = 2, .head_size = 9, .rotary_size = 4, .pairing = pairing},
      RotaryGeometry{
          .offset = 1, .heads = 2, .head_size = 9, .rotary_size = 0, .pairing = pairing});
  const std::int64_t positions = GENERATE(0, 1, 40);
  const auto [cosine, sine] = Tables(positions + 2, g.rotary_size / 2, dtype);
  const Tensor x = RandomTensor({3, positions, 30}, 1, dtype);
  const std::vector<double> expected = Turned(g, x, inverse ? -1 : 1);
  kernels.Rotate(g, cosine, sine, inverse, x);
  CHECK(testing::MaxError(x, expected) < SequenceTolerance(dtype));
}

TEST_CASE("eigen rotary embedding against the angle is its derivative") {
  EigenSequenceKernels kernels;
  const auto pairing = GENERATE(RotaryPairing::kHalves, RotaryPairing::kNeighbours);
  const RotaryGeometry g{
      .offset = 2, .heads = 2, .head_size = 6, .rotary_size = 4, .pairing = pairing};
  const auto [cosine, sine] = Tables(5, 2, DType::kF64);
  const Tensor x = RandomTensor({2, 5, 14}, 1, DType::kF64);
  const Tensor dy = RandomTensor({2, 5, 14}, 2, DType::kF64);
  const auto loss = [&, &cosines = cosine, &sines = sine] {
    const Tensor y = testing::MakeTensor(x.shape(), Values(x), DType::kF64);
    kernels.Rotate(g, cosines, sines, false, y);
    return testing::Dot(y, dy);
  };
  const std::vector<double> numeric = testing::NumericGradient(loss, x);
  kernels.Rotate(g, cosine, sine, true, dy);
  CHECK(testing::RelativeError(dy, numeric) < 1e-8);
}

constexpr Activation kKinds[] = {Activation::kSilu,      Activation::kGelu, Activation::kGeluTanh,
                                 Activation::kSigmoid,   Activation::kRelu, Activation::kIdentity,
                                 Activation::kLeakyRelu, Activation::kElu};

TEST_CASE("eigen gated unit multiplies one half by the function of the other") {
  EigenSequenceKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const bool gate_last = GENERATE(false, true);
  const std::int64_t width = GENERATE(1, 7, 600);
  const std::int64_t rows = GENERATE(0, 1, 50);
  const Tensor x = RandomTensor({rows, 2 * width}, 1, dtype, -3, 3);
  const Tensor y = Uninitialized({rows, width}, dtype);
  const std::vector<double> values = Values(x);
  for (const Activation kind : kKinds) {
    INFO(NameOf(kind));
    std::vector<double> activated(values.size());
    eigen::ActivateRange(kind, DefaultParameter(kind), values.data(), activated.data(), x.size());
    std::vector<double> expected;
    for (std::int64_t i = 0; i < rows * width; ++i) {
      const std::int64_t left = i / width * 2 * width + i % width;
      const auto gate = static_cast<std::size_t>(gate_last ? left + width : left);
      const auto value = static_cast<std::size_t>(gate_last ? left : left + width);
      expected.push_back(activated[gate] * values[value]);
    }
    kernels.GatedForward(kind, gate_last, x, y);
    CHECK(testing::MaxError(y, expected) < SequenceTolerance(dtype));
  }
}

TEST_CASE("eigen gated unit backward equals numeric derivatives, also in place") {
  EigenSequenceKernels kernels;
  const bool gate_last = GENERATE(false, true);
  const std::int64_t width = GENERATE(1, 5, 300);
  for (const Activation kind : kKinds) {
    INFO(NameOf(kind));
    const Tensor x = RandomTensor({2, 2 * width}, 1, DType::kF64, -3, 3);
    const Tensor dy = RandomTensor({2, width}, 2, DType::kF64);
    const Tensor y = Uninitialized({2, width}, DType::kF64);
    const Tensor dx = Uninitialized(x.shape(), DType::kF64);
    const auto loss = [&] {
      kernels.GatedForward(kind, gate_last, x, y);
      return testing::Dot(y, dy);
    };
    kernels.GatedBackward(kind, gate_last, dy, x, dx);
    CHECK(testing::RelativeError(dx, testing::NumericGradient(loss, x)) < 1e-8);
    kernels.GatedBackward(kind, gate_last, dy, x, x);
    CHECK(SameBits(x, dx));
  }
}

TEST_CASE("eigen rms norm equals its formula") {
  EigenSequenceKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const bool weighted = GENERATE(false, true);
  const std::int64_t width = GENERATE(1, 7, 130);
  const std::int64_t rows = GENERATE(0, 1, 300);
  const Tensor x = RandomTensor({rows, width}, 1, dtype, 0, 5);
  const Tensor weight = weighted ? RandomTensor({width}, 2, dtype) : Tensor();
  const Tensor y = Uninitialized(x.shape(), dtype);
  const Tensor rstd = Uninitialized({rows}, dtype);
  kernels.RmsForward(x, weight, kRmsEpsilon, y, rstd);
  const std::vector<double> xs = Values(x);
  std::vector<double> expected, expected_rstd;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const auto count = static_cast<std::size_t>(width);
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) sum += xs[row * count + j] * xs[row * count + j];
    expected_rstd.push_back(1 / std::sqrt(sum / static_cast<double>(width) + kRmsEpsilon));
    for (std::size_t j = 0; j < count; ++j) {
      const double scale = weighted ? Values(weight)[j] : 1;
      expected.push_back(xs[row * count + j] * expected_rstd.back() * scale);
    }
  }
  CHECK(testing::MaxError(y, expected) < SequenceTolerance(dtype));
  CHECK(testing::RelativeError(rstd, expected_rstd) < SequenceTolerance(dtype));
}

TEST_CASE("eigen rms norm backward equals numeric derivatives") {
  EigenSequenceKernels kernels;
  const bool weighted = GENERATE(false, true);
  const DType f64 = DType::kF64;
  const Tensor x = RandomTensor({4, 9}, 1, f64);
  const Tensor dy = RandomTensor({4, 9}, 2, f64);
  const Tensor weight = weighted ? RandomTensor({9}, 3, f64) : Tensor();
  const Tensor y = Uninitialized({4, 9}, f64);
  const Tensor rstd = Uninitialized({4}, f64);
  const auto loss = [&] {
    kernels.RmsForward(x, weight, kRmsEpsilon, y, rstd);
    return testing::Dot(y, dy);
  };
  loss();
  const Tensor dx = Uninitialized({4, 9}, f64);
  const Tensor dweight = weighted ? Uninitialized({9}, f64) : Tensor();
  CHECK(kernels.RmsBackwardScratch(x) == 0);
  kernels.RmsBackward(dy, x, rstd, weight, dx, dweight, false, nullptr);
  CHECK(testing::RelativeError(dx, testing::NumericGradient(loss, x)) < 1e-8);
  if (!weighted) return;
  CHECK(testing::RelativeError(dweight, testing::NumericGradient(loss, weight)) < 1e-8);
  std::vector<double> twice = Values(dweight);
  for (double& value : twice) value *= 2;
  loss();
  kernels.RmsBackward(dy, x, rstd, weight, dy, dweight, true, nullptr);  // in place of dy
  CHECK(testing::MaxError(dweight, twice) < 1e-13);
  CHECK(testing::MaxError(dy, dx) < 1e-13);
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct LstmStep {
  explicit LstmStep(std::int64_t rows, std::int64_t width, DType dtype = DType::kF64)
      : sums(RandomTensor({rows, 4 * width}, 1, dtype, -2, 2)),
        before(RandomTensor({rows, width}, 2, dtype)),
        gates(Uninitialized(sums.shape(), dtype)),
        cell(Uninitialized(before.shape(), dtype)),
        hidden(Uninitialized(before.shape(), dtype)) {}

  void Run() {
    gates = testing::MakeTensor(sums.shape(), Values(sums), sums.dtype());
    EigenSequenceKernels().LstmForward(gates, before, cell, hidden);
  }

  Tensor sums;
  Tensor before;
  Tensor gates;
  Tensor cell;
  Tensor hidden;
};

TEST_CASE("eigen lstm step equals its formula") {
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const std::int64_t width = GENERATE(1, 8, 100);
  const std::int64_t rows = GENERATE(0, 1, 70);
  LstmStep step(rows, width, dtype);
  step.Run();
  const std::vector<double> sums = Values(step.sums);
  const std::vector<double> before = Values(step.before);
  std::vector<double> cell, hidden;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto count = static_cast<std::size_t>(width);
    const double* gate = sums.data() + i / count * 4 * count + i % count;
    cell.push_back(Sigmoid(gate[count]) * before[i] +
                   Sigmoid(gate[0]) * std::tanh(gate[2 * count]));
    hidden.push_back(Sigmoid(gate[3 * count]) * std::tanh(cell.back()));
  }
  CHECK(testing::MaxError(step.cell, cell) < SequenceTolerance(dtype));
  CHECK(testing::MaxError(step.hidden, hidden) < SequenceTolerance(dtype));
}

TEST_CASE("eigen lstm backward equals numeric derivatives, also in place") {
  LstmStep step(3, 4);
  const Tensor dhidden = RandomTensor({3, 4}, 4, DType::kF64);
  const Tensor dcell = RandomTensor({3, 4}, 5, DType::kF64);
  const Tensor from_next = RandomTensor({3, 4}, 5, DType::kF64);
  const auto loss = [&] {
    step.Run();
    return testing::Dot(step.hidden, dhidden) + testing::Dot(step.cell, from_next);
  };
  const auto by_sums = testing::NumericGradient(loss, step.sums);
  const auto by_before = testing::NumericGradient(loss, step.before);
  step.Run();
  const Tensor dgates = Uninitialized({3, 16}, DType::kF64);
  EigenSequenceKernels kernels;
  kernels.LstmBackward(dhidden, step.gates, step.before, step.cell, dcell, dgates);
  CHECK(testing::RelativeError(dgates, by_sums) < 1e-8);
  CHECK(testing::RelativeError(dcell, by_before) < 1e-8);
  kernels.LstmBackward(dhidden, step.gates, step.before, step.cell, from_next, step.gates);
  CHECK(SameBits(step.gates, dgates));
  CHECK(SameBits(from_next, dcell));
}

struct GruStep {
  explicit GruStep(std::int64_t rows, std::int64_t width, DType dtype = DType::kF64)
      : input_sums(RandomTensor({rows, 3 * width}, 1, dtype, -2, 2)),
        hidden_sums(RandomTensor({rows, 3 * width}, 2, dtype, -2, 2)),
        before(RandomTensor({rows, width}, 3, dtype)),
        from_input(Uninitialized(input_sums.shape(), dtype)),
        from_hidden(Uninitialized(hidden_sums.shape(), dtype)),
        hidden(Uninitialized(before.shape(), dtype)) {}

  void Run() {
    from_input = testing::MakeTensor(input_sums.shape(), Values(input_sums), input_sums.dtype());
    from_hidden = testing::MakeTensor(input_sums.shape(), Values(hidden_sums), input_sums.dtype());
    EigenSequenceKernels().GruForward(from_input, from_hidden, before, hidden);
  }

  Tensor input_sums;
  Tensor hidden_sums;
  Tensor before;
  Tensor from_input;
  Tensor from_hidden;
  Tensor hidden;
};

TEST_CASE("eigen gru step equals its formula") {
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const std::int64_t width = GENERATE(1, 8, 100);
  const std::int64_t rows = GENERATE(0, 1, 70);
  GruStep step(rows, width, dtype);
  step.Run();
  const std::vector<double> inputs = Values(step.input_sums);
  const std::vector<double> hiddens = Values(step.hidden_sums);
  const std::vector<double> before = Values(step.before);
  std::vector<double> expected;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto count = static_cast<std::size_t>(width);
    const std::size_t at = i / count * 3 * count + i % count;
    const double reset = Sigmoid(inputs[at] + hiddens[at]);
    const double update = Sigmoid(inputs[at + count] + hiddens[at + count]);
    const double fresh = std::tanh(inputs[at + 2 * count] + reset * hiddens[at + 2 * count]);
    expected.push_back((1 - update) * fresh + update * before[i]);
  }
  CHECK(testing::MaxError(step.hidden, expected) < SequenceTolerance(dtype));
}

TEST_CASE("eigen gru backward equals numeric derivatives, also in place") {
  GruStep step(3, 4);
  const Tensor dhidden = RandomTensor({3, 4}, 4, DType::kF64);
  const auto loss = [&] {
    step.Run();
    return testing::Dot(step.hidden, dhidden);
  };
  const auto by_input = testing::NumericGradient(loss, step.input_sums);
  const auto by_hidden = testing::NumericGradient(loss, step.hidden_sums);
  const auto by_before = testing::NumericGradient(loss, step.before);
  step.Run();
  const Tensor dbefore = Uninitialized({3, 4}, DType::kF64);
  EigenSequenceKernels kernels;
  kernels.GruBackward(dhidden, step.from_input, step.from_hidden, step.before, dbefore);
  CHECK(testing::RelativeError(step.from_input, by_input) < 1e-8);
  CHECK(testing::RelativeError(step.from_hidden, by_hidden) < 1e-8);
  CHECK(testing::RelativeError(dbefore, by_before) < 1e-8);
  step.Run();
  kernels.GruBackward(dhidden, step.from_input, step.from_hidden, step.before, dhidden);
  CHECK(SameBits(dhidden, dbefore));
}

TEST_CASE("eigen sequence kernels give the same bits on any number of threads") {
  EigenSequenceKernels kernels;
  const int before = ThreadCount();
  const Tensor x = RandomTensor({3001, 60}, 1);
  const Tensor dy = RandomTensor({3001, 60}, 2);
  const Tensor weight = RandomTensor({60}, 3);
  std::vector<std::vector<Tensor>> results;
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    const std::vector<Tensor> made = {Uninitialized({3001, 60}), Uninitialized({3001}),
                                      Uninitialized({3001, 60}), Uninitialized({60}),
                                      Uninitialized({3001, 30})};
    kernels.RmsForward(x, weight, kRmsEpsilon, made[0], made[1]);
    kernels.RmsBackward(dy, x, made[1], weight, made[2], made[3], false, nullptr);
    kernels.GatedForward(Activation::kSilu, false, x, made[4]);
    results.push_back(made);
  }
  SetThreadCount(before);
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    INFO(i);
    CHECK(SameBits(results[0][i], results[1][i]));
  }
}

TEST_CASE("eigen sequence kernels refuse integers") {
  EigenSequenceKernels kernels;
  const Tensor x = testing::Full({1, 2}, 1, DType::kI64);
  CHECK_THROWS_AS(kernels.GatedForward(Activation::kSilu, false, x, x), UsageError);
  CHECK_THROWS_AS(kernels.RmsForward(x, {}, 1, x, x), UsageError);
  CHECK_THROWS_AS(kernels.Rotate({}, x, x, false, x), UsageError);
  CHECK_THROWS_AS(kernels.LstmForward(x, x, x, x), UsageError);
  CHECK_THROWS_AS(kernels.GruForward(x, x, x, x), UsageError);
}

}  // namespace
}  // namespace frugal
