#include <cmath>

#include "sdk/backend/backend.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::RandomTensor;
using testing::Values;

constexpr std::int64_t kCount = 20001;  // more than one piece of work
constexpr int kSteps = 4;

double OptimizerTolerance(DType dtype) { return dtype == DType::kF64 ? 1e-14 : 1e-6; }

struct SgdState {
  double parameter;
  double buffer = 0;

  void Step(const SgdArguments& a, double gradient) {
    double g = gradient * a.gradient_scale + a.weight_decay * parameter;
    if (a.momentum != 0) {
      buffer = a.first_step ? g : a.momentum * buffer + (1 - a.dampening) * g;
      g = a.nesterov ? g + a.momentum * buffer : buffer;
    }
    parameter -= a.learning_rate * g;
  }
};

TEST_CASE("eigen sgd follows the scalar formula") {
  const auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  SgdArguments a = GENERATE(
      SgdArguments{.learning_rate = 0.1},
      SgdArguments{.learning_rate = 0.1, .weight_decay = 0.01, .gradient_scale = 0.5},
      SgdArguments{.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.1, .weight_decay = 0.01},
      SgdArguments{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  const Tensor parameter = RandomTensor({kCount}, 1, dtype);
  // Holds NaN: the first step must not read it.
  const Tensor buffer = a.momentum != 0 ? testing::Uninitialized({kCount}, dtype) : Tensor();
  std::vector<SgdState> states;
  for (const double value : Values(parameter)) states.push_back({.parameter = value});
  for (int step = 0; step < kSteps; ++step) {
    a.first_step = step == 0;
    const Tensor gradient = RandomTensor({kCount}, 10 + static_cast<std::uint64_t>(step), dtype);
    backend->optimizer().Sgd(a, gradient, buffer, parameter);
    const auto gradients = Values(gradient);
    for (std::size_t i = 0; i < states.size(); ++i) states[i].Step(a, gradients[i]);
  }
  std::vector<double> expected;
  for (const SgdState& state : states) expected.push_back(state.parameter);
  CHECK(testing::RelativeError(parameter, expected) < OptimizerTolerance(dtype));
}

struct AdamState {
  double parameter;
  double first = 0;
  double second = 0;

  void Step(const AdamArguments& a, double gradient) {
    double g = gradient * a.gradient_scale;
    if (a.decoupled) {
      parameter *= 1 - a.learning_rate * a.weight_decay;
    } else {
      g += a.weight_decay * parameter;
    }
    first = a.beta1 * first + (1 - a.beta1) * g;
    second = a.beta2 * second + (1 - a.beta2) * g * g;
    const double step = static_cast<double>(a.step);
    const double denominator =
        std::sqrt(second) / std::sqrt(1 - std::pow(a.beta2, step)) + a.epsilon;
    parameter -= a.learning_rate / (1 - std::pow(a.beta1, step)) * first / denominator;
  }
};

TEST_CASE("eigen adam and adamw follow the scalar formula") {
  const auto backend = MakeEigenBackend();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  AdamArguments a = GENERATE(AdamArguments{.learning_rate = 0.01},
                             AdamArguments{.learning_rate = 0.01, .weight_decay = 0.1},
                             AdamArguments{.learning_rate = 0.01,
                                           .beta1 = 0.8,
                                           .beta2 = 0.95,
                                           .epsilon = 1e-3,
                                           .weight_decay = 0.1,
                                           .decoupled = true,
                                           .gradient_scale = 0.25});
  const Tensor parameter = RandomTensor({kCount}, 1, dtype);
  const Tensor first = testing::Full({kCount}, 0, dtype);
  const Tensor second = testing::Full({kCount}, 0, dtype);
  std::vector<AdamState> states;
  for (const double value : Values(parameter)) states.push_back({.parameter = value});
  for (a.step = 1; a.step <= kSteps; ++a.step) {
    const Tensor gradient = RandomTensor({kCount}, static_cast<std::uint64_t>(a.step) + 10, dtype);
    backend->optimizer().Adam(a, gradient, first, second, parameter);
    const auto gradients = Values(gradient);
    for (std::size_t i = 0; i < states.size(); ++i) states[i].Step(a, gradients[i]);
  }
  std::vector<double> expected;
  for (const AdamState& state : states) expected.push_back(state.parameter);
  // In f32 the moments lose digits where gradients nearly cancel.
  CHECK(testing::RelativeError(parameter, expected) < 5 * OptimizerTolerance(dtype));
}

TEST_CASE("eigen adam with a zero gradient moves nothing") {
  const auto backend = MakeEigenBackend();
  const Tensor parameter = testing::Full({3}, 2);
  const Tensor zero = testing::Full({3}, 0);
  const Tensor first = testing::Full({3}, 0);
  const Tensor second = testing::Full({3}, 0);
  backend->optimizer().Adam({.learning_rate = 1}, zero, first, second, parameter);
  CHECK(Values(parameter) == std::vector<double>{2, 2, 2});
}

TEST_CASE("eigen sum of squares is exact and the same on any number of threads") {
  const auto backend = MakeEigenBackend();
  const int before = ThreadCount();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const Tensor x = RandomTensor({5'000'003}, 1, dtype);
  double expected = 0;
  for (const double value : Values(x)) expected += value * value;
  SetThreadCount(1);
  const double alone = backend->optimizer().SumOfSquares(x);
  SetThreadCount(3);
  const double together = backend->optimizer().SumOfSquares(x);
  SetThreadCount(before);
  CHECK(alone == Approx(expected).epsilon(1e-11));
  CHECK(alone == together);
  CHECK(backend->optimizer().SumOfSquares(testing::Uninitialized({0}, dtype)) == 0);
}

}  // namespace
}  // namespace frugal
