#include "sdk/backend/eigen/optimizer/adaptive.h"

#include <cmath>
#include <functional>

#include "sdk/backend/backend.h"
#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::Values;

constexpr std::int64_t kCount = 20001;  // more than one piece of work
constexpr int kSteps = 8;               // RAdam changes its way at the sixth

// Holds what an optimizer works on, with up to three state tensors, zero before the first step.
struct Work {
  Tensor gradient;
  Tensor a;
  Tensor b;
  Tensor c;
  Tensor parameter;
};

// Step `step` (from 1) of an optimizer.
using Step = std::function<void(EigenAdaptiveKernels&, const Work&, std::int64_t step)>;

std::vector<double> ReadAll(const WeightSource& source, const std::string& name) {
  std::vector<double> values(static_cast<std::size_t>(source.Find(name)->shape.ElementCount()));
  source.ReadAsF64(name, values);
  return values;
}

// The options of the file: learning rate 0.01, everything else as by default.
std::vector<std::pair<std::string, Step>> OracleSteps() {
  constexpr double kRate = 0.01;
  return {{"rmsprop",
           [](auto& k, const Work& w, auto) {
             k.RmsProp({.learning_rate = kRate}, w.gradient, w.a, {}, {}, w.parameter);
           }},
          {"adagrad",
           [](auto& k, const Work& w, auto step) {
             k.Adagrad({.learning_rate = kRate, .step = step}, w.gradient, w.a, w.parameter);
           }},
          {"adadelta",
           [](auto& k, const Work& w, auto) {
             k.Adadelta({.learning_rate = kRate}, w.gradient, w.a, w.b, w.parameter);
           }},
          {"nadam",
           [](auto& k, const Work& w, auto step) {
             k.NAdam({.learning_rate = kRate, .step = step}, w.gradient, w.a, w.b, w.parameter);
           }},
          {"radam",
           [](auto& k, const Work& w, auto step) {
             k.RAdam({.learning_rate = kRate, .step = step}, w.gradient, w.a, w.b, w.parameter);
           }},
          {"adamax", [](auto& k, const Work& w, auto step) {
             k.Adamax({.learning_rate = kRate, .step = step}, w.gradient, w.a, w.b, w.parameter);
           }}};
}

Work StartFrom(const Tensor& parameter) {
  const auto zeros = [&] { return testing::Full(parameter.shape(), 0, parameter.dtype()); };
  return {{}, zeros(), zeros(), zeros(), parameter};
}

TEST_CASE("eigen adaptive optimizers agree with PyTorch step by step", "[oracles]") {
  const auto source =
      OpenWeights(std::string(FRUGAL_TEST_DATA) + "/oracles/optimizers.safetensors");
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  EigenAdaptiveKernels kernels;
  const Shape shape{7, 5};
  const auto part = [](const std::vector<double>& all, std::int64_t step) {
    const auto begin = all.begin() + (step - 1) * 35;
    return std::vector<double>(begin, begin + 35);
  };
  const std::vector<double> gradients = ReadAll(*source, "gradients");
  for (const auto& [name, step_of] : OracleSteps()) {
    Work work = StartFrom(MakeTensor(shape, ReadAll(*source, "start"), dtype));
    const std::vector<double> after = ReadAll(*source, "after/" + name);
    for (std::int64_t step = 1; step <= 12; ++step) {
      INFO(name << ", step " << step);
      work.gradient = MakeTensor(shape, part(gradients, step), dtype);
      step_of(kernels, work, step);
      CHECK(testing::RelativeError(work.parameter, part(after, step)) < 1e-6);
    }
  }
}

// One element of an optimizer, written out as in PyTorch's documentation.
struct Scalar {
  double p = 0;
  double a = 0;
  double b = 0;
  double c = 0;
  double momenta = 1;  // NAdam's product
};
using ScalarStep = std::function<void(Scalar&, double gradient, std::int64_t step)>;

void CheckAgainst(const Step& step_of, const ScalarStep& scalar_step) {
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  EigenAdaptiveKernels kernels;
  Work work = StartFrom(RandomTensor({kCount}, 1, dtype));
  std::vector<Scalar> scalars;
  for (const double value : Values(work.parameter)) scalars.push_back({.p = value});
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    work.gradient = RandomTensor({kCount}, static_cast<std::uint64_t>(step) + 10, dtype);
    step_of(kernels, work, step);
    const auto gradients = Values(work.gradient);
    for (std::size_t i = 0; i < scalars.size(); ++i) scalar_step(scalars[i], gradients[i], step);
  }
  std::vector<double> expected;
  for (const Scalar& scalar : scalars) expected.push_back(scalar.p);
  CHECK(testing::RelativeError(work.parameter, expected) < (dtype == DType::kF64 ? 1e-13 : 1e-5));
}

TEST_CASE("eigen rmsprop follows the scalar formula with every option") {
  const bool centred = GENERATE(false, true);
  const double momentum = GENERATE(0.0, 0.9);
  const RmsPropArguments arguments{.learning_rate = 0.01,
                                   .alpha = 0.9,
                                   .epsilon = 1e-3,
                                   .momentum = momentum,
                                   .weight_decay = 0.1,
                                   .gradient_scale = 0.5};
  CheckAgainst(
      [&](auto& kernels, const Work& w, auto) {
        kernels.RmsProp(arguments, w.gradient, w.a, centred ? w.b : Tensor(),
                        momentum != 0 ? w.c : Tensor(), w.parameter);
      },
      [&](Scalar& s, double gradient, auto) {
        const double g = 0.5 * gradient + 0.1 * s.p;
        s.a = 0.9 * s.a + 0.1 * g * g;
        s.b = 0.9 * s.b + 0.1 * g;
        const double step = g / (std::sqrt(s.a - (centred ? s.b * s.b : 0)) + 1e-3);
        s.c = momentum * s.c + step;
        s.p -= 0.01 * s.c;
      });
}

TEST_CASE("eigen adagrad and adadelta follow the scalar formulas") {
  CheckAgainst(
      [](auto& kernels, const Work& w, auto step) {
        kernels.Adagrad({.learning_rate = 0.1,
                         .rate_decay = 0.5,
                         .epsilon = 1e-3,
                         .weight_decay = 0.1,
                         .step = step,
                         .gradient_scale = 0.5},
                        w.gradient, w.a, w.parameter);
      },
      [](Scalar& s, double gradient, std::int64_t step) {
        const double g = 0.5 * gradient + 0.1 * s.p;
        s.a += g * g;
        s.p -= 0.1 / (1 + 0.5 * static_cast<double>(step - 1)) * g / (std::sqrt(s.a) + 1e-3);
      });
  CheckAgainst(
      [](auto& kernels, const Work& w, auto) {
        kernels.Adadelta({.learning_rate = 0.7,
                          .rho = 0.8,
                          .epsilon = 1e-3,
                          .weight_decay = 0.1,
                          .gradient_scale = 0.5},
                         w.gradient, w.a, w.b, w.parameter);
      },
      [](Scalar& s, double gradient, auto) {
        const double g = 0.5 * gradient + 0.1 * s.p;
        s.a = 0.8 * s.a + 0.2 * g * g;
        const double delta = std::sqrt(s.b + 1e-3) / std::sqrt(s.a + 1e-3) * g;
        s.b = 0.8 * s.b + 0.2 * delta * delta;
        s.p -= 0.7 * delta;
      });
}

// Gradient and moments of the variants of Adam, with weight decay 0.1 and gradient scale 0.5.
double Enter(Scalar& s, double gradient, bool decoupled) {
  const double g = 0.5 * gradient + (decoupled ? 0 : 0.1 * s.p);
  if (decoupled) s.p *= 1 - 0.01 * 0.1;
  s.a = 0.8 * s.a + 0.2 * g;
  return g;
}

TEST_CASE("eigen nadam follows the scalar formula") {
  const bool decoupled = GENERATE(false, true);
  CheckAgainst(
      [&](auto& kernels, const Work& w, auto step) {
        kernels.NAdam({.learning_rate = 0.01,
                       .beta1 = 0.8,
                       .beta2 = 0.95,
                       .epsilon = 1e-3,
                       .weight_decay = 0.1,
                       .decoupled = decoupled,
                       .momentum_decay = 0.1,
                       .step = step,
                       .gradient_scale = 0.5},
                      w.gradient, w.a, w.b, w.parameter);
      },
      [&](Scalar& s, double gradient, std::int64_t step) {
        const auto t = static_cast<double>(step);
        const double mu = 0.8 * (1 - 0.5 * std::pow(0.96, t * 0.1));
        const double next = 0.8 * (1 - 0.5 * std::pow(0.96, (t + 1) * 0.1));
        s.momenta *= mu;
        const double g = Enter(s, gradient, decoupled);
        s.b = 0.95 * s.b + 0.05 * g * g;
        const double size = std::sqrt(s.b / (1 - std::pow(0.95, t))) + 1e-3;
        s.p -= 0.01 * (1 - mu) / (1 - s.momenta) * g / size;
        s.p -= 0.01 * next / (1 - s.momenta * next) * s.a / size;
      });
}

TEST_CASE("eigen radam follows the scalar formula before and after rectification") {
  const bool decoupled = GENERATE(false, true);
  CheckAgainst(
      [&](auto& kernels, const Work& w, auto step) {
        kernels.RAdam({.learning_rate = 0.01,
                       .beta1 = 0.8,
                       .beta2 = 0.95,
                       .epsilon = 1e-3,
                       .weight_decay = 0.1,
                       .decoupled = decoupled,
                       .step = step,
                       .gradient_scale = 0.5},
                      w.gradient, w.a, w.b, w.parameter);
      },
      [&](Scalar& s, double gradient, std::int64_t step) {
        const auto t = static_cast<double>(step);
        const double g = Enter(s, gradient, decoupled);
        s.b = 0.95 * s.b + 0.05 * g * g;
        const double limit = 2 / 0.05 - 1;
        const double rest = 1 - std::pow(0.95, t);
        const double rho = limit - 2 * t * std::pow(0.95, t) / rest;
        double move = 0.01 * s.a / (1 - std::pow(0.8, t));
        if (rho > 5) {
          move *= std::sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho));
          move *= std::sqrt(rest) / (std::sqrt(s.b) + 1e-3);
        }
        s.p -= move;
      });
}

TEST_CASE("eigen adamax follows the scalar formula") {
  CheckAgainst(
      [](auto& kernels, const Work& w, auto step) {
        kernels.Adamax({.learning_rate = 0.01,
                        .beta1 = 0.8,
                        .beta2 = 0.95,
                        .epsilon = 1e-3,
                        .weight_decay = 0.1,
                        .step = step,
                        .gradient_scale = 0.5},
                       w.gradient, w.a, w.b, w.parameter);
      },
      [](Scalar& s, double gradient, std::int64_t step) {
        const double g = Enter(s, gradient, false);
        s.b = std::max(0.95 * s.b, std::abs(g) + 1e-3);
        s.p -= 0.01 / (1 - std::pow(0.8, static_cast<double>(step))) * s.a / s.b;
      });
}

TEST_CASE("eigen adaptive optimizers stay finite at late steps and with zero gradients") {
  EigenAdaptiveKernels kernels;
  for (const std::int64_t step : {std::int64_t{1}, std::int64_t{1000000000}}) {
    for (const auto& [name, step_of] : OracleSteps()) {
      INFO(name << ", step " << step);
      Work work = StartFrom(testing::Full({3}, 2));
      work.gradient = testing::Full({3}, 0);
      step_of(kernels, work, step);
      CHECK(Values(work.parameter) == std::vector<double>{2, 2, 2});
      work.gradient = testing::Full({3}, 1);
      step_of(kernels, work, step);
      CHECK(std::isfinite(testing::Value(work.parameter)));
      CHECK(testing::Value(work.parameter) < 2);
    }
  }
}

TEST_CASE("eigen adaptive optimizers give the same bits on any number of threads") {
  EigenAdaptiveKernels kernels;
  const int before = ThreadCount();
  for (const auto& [name, step_of] : OracleSteps()) {
    INFO(name);
    std::vector<Tensor> results;
    for (const int threads : {1, 3}) {
      SetThreadCount(threads);
      Work work = StartFrom(RandomTensor({100003}, 1));
      work.gradient = RandomTensor({100003}, 2);
      step_of(kernels, work, 1);
      results.push_back(work.parameter);
    }
    CHECK(testing::SameBits(results[0], results[1]));
  }
  SetThreadCount(before);
}

TEST_CASE("eigen adaptive optimizers take no elements and refuse integers") {
  EigenAdaptiveKernels kernels;
  for (const auto& [name, step_of] : OracleSteps()) {
    INFO(name);
    Work empty = StartFrom(testing::Full({0}, 0));
    empty.gradient = testing::Full({0}, 0);
    CHECK_NOTHROW(step_of(kernels, empty, 1));
    Work integers = StartFrom(testing::Full({2}, 0, DType::kI64));
    integers.gradient = testing::Full({2}, 0, DType::kI64);
    CHECK_THROWS_AS(step_of(kernels, integers, 1), UsageError);
  }
}

}  // namespace
}  // namespace frugal
