#include <cmath>

#include "sdk/core/error.h"
#include "sdk/core/random.h"
#include "sdk/diffusion/sampler.h"
#include "tests/catch.h"

// Single steps against the formulas of the papers, written out again in double precision.
namespace frugal {
namespace {

const std::vector<float> kX = {0.3F, -1.7F, 2.2F};
const std::vector<float> kOutput = {-0.4F, 0.9F, 1.1F};

// Runs steps 0 ... `last` with other numbers before, so that x is kX and the output kOutput in step
// `last`.
std::vector<float> StepOf(const SamplerOptions& options, std::int64_t last) {
  const auto sampler = MakeSampler(options);
  std::vector<float> x;
  for (std::int64_t step = 0; step <= last; ++step) {
    x = kX;
    std::vector<float> output = kOutput;
    if (step < last) output = {0.25F, -0.5F, 0.75F};
    sampler->Step(step, output, x);
  }
  return x;
}

// The product of 1 - beta of a linear schedule.
double AlphaBarOf(std::int64_t t, std::int64_t steps, double first, double last) {
  double product = 1;
  for (std::int64_t i = 0; i <= t; ++i) {
    product *=
        1 - (first + (last - first) * static_cast<double>(i) / static_cast<double>(steps - 1));
  }
  return product;
}

constexpr NoiseScheduleOptions kTen = {.steps = 10, .first_beta = 0.05, .last_beta = 0.3};
double AlphaBar(std::int64_t t) { return AlphaBarOf(t, 10, 0.05, 0.3); }

TEST_CASE("spaced times are those of the table", "[diffusion]") {
  using Times = std::vector<std::int64_t>;
  CHECK(Timesteps(1000, 5, TimestepSpacing::kLeading) == Times{800, 600, 400, 200, 0});
  CHECK(Timesteps(1000, 5, TimestepSpacing::kLinspace) == Times{999, 749, 500, 250, 0});
  CHECK(Timesteps(1000, 5, TimestepSpacing::kTrailing) == Times{999, 799, 599, 399, 199});
  for (const auto spacing :
       {TimestepSpacing::kLeading, TimestepSpacing::kLinspace, TimestepSpacing::kTrailing}) {
    INFO(NameOf(spacing));
    CHECK(Timesteps(4, 4, spacing) == Times{3, 2, 1, 0});
    for (const std::int64_t steps : {1, 7, 333, 999, 1000}) {
      const Times times = Timesteps(1000, steps, spacing);
      REQUIRE(times.size() == static_cast<std::size_t>(steps));
      CHECK(times.front() < 1000);
      CHECK(times.back() >= 0);
      for (std::size_t i = 1; i < times.size(); ++i) REQUIRE(times[i] < times[i - 1]);
    }
    for (const std::int64_t wrong : {0, -1, 1001}) {
      CHECK_THROWS_WITH(Timesteps(1000, wrong, spacing),
                        Catch::Contains("at least 1 step") && Catch::Contains("1000") &&
                            Catch::Contains(std::to_string(wrong)));
    }
  }
}

// Mean and deviation of many draws of one step from the same x and output.
struct Spread {
  double mean = 0, std = 0;
};
Spread SpreadOf(SamplerOptions options, std::int64_t last) {
  constexpr std::size_t kDraws = 40000;
  const auto sampler = MakeSampler(options);
  std::vector<float> x;
  for (std::int64_t step = 0; step <= last; ++step) {
    x.assign(kDraws, kX[1]);
    sampler->Step(step, std::vector<float>(kDraws, kOutput[1]), x);
  }
  Spread spread;
  for (const float value : x) spread.mean += value / double{kDraws};
  for (const float value : x) {
    spread.std += std::pow(value - spread.mean, 2) / double{kDraws};
  }
  spread.std = std::sqrt(spread.std);
  return spread;
}

TEST_CASE("a step of ddpm is equation 11 with the posterior's variance", "[diffusion]") {
  for (const bool large : {false, true}) {
    const SamplerOptions options{
        .kind = SamplerKind::kDdpm, .steps = 10, .schedule = kTen, .large_variance = large};
    const std::int64_t step = 3, t = 6;
    const double beta = 0.05 + 0.25 * 6 / 9, alpha_bar = AlphaBar(t);
    const double mean =
        (kX[1] - beta / std::sqrt(1 - alpha_bar) * kOutput[1]) / std::sqrt(1 - beta);
    const double variance = large ? beta : (1 - AlphaBar(t - 1)) / (1 - alpha_bar) * beta;
    const Spread spread = SpreadOf(options, step);
    CHECK(spread.mean == Approx(mean).margin(4 * std::sqrt(variance / 40000)));
    CHECK(spread.std == Approx(std::sqrt(variance)).epsilon(0.02));
    // The last step adds no noise.
    const std::vector<float> data = StepOf(options, 9);
    for (std::size_t i = 0; i < 3; ++i) {
      const double expected = (kX[i] - std::sqrt(0.05) * kOutput[i]) / std::sqrt(1 - 0.05);
      CHECK(data[i] == Approx(expected).epsilon(1e-6));
    }
  }
}

TEST_CASE("a longer step of ddpm is the posterior of equation 7 of the steps it skips",
          "[diffusion]") {
  const SamplerOptions options{.kind = SamplerKind::kDdpm,
                               .steps = 5,
                               .schedule = kTen,
                               .spacing = TimestepSpacing::kTrailing};  // 9, 7, 5, 3, 1
  const double here = AlphaBar(5), next = AlphaBar(3), alpha = here / next;
  const double x0 = (kX[1] - std::sqrt(1 - here) * kOutput[1]) / std::sqrt(here);
  const double mean =
      (std::sqrt(next) * (1 - alpha) * x0 + std::sqrt(alpha) * (1 - next) * kX[1]) / (1 - here);
  const double deviation = std::sqrt((1 - next) / (1 - here) * (1 - alpha));
  const Spread spread = SpreadOf(options, 2);
  CHECK(spread.mean == Approx(mean).margin(0.02 * deviation));
  CHECK(spread.std == Approx(deviation).epsilon(0.02));
}

TEST_CASE("a step of ddim is equation 12", "[diffusion]") {
  const SamplerOptions options{.kind = SamplerKind::kDdim, .steps = 5, .schedule = kTen};
  const double here = AlphaBar(5), next = AlphaBar(3);
  const std::vector<float> x = StepOf(options, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    const double x0 = (kX[i] - std::sqrt(1 - here) * kOutput[i]) / std::sqrt(here);
    CHECK(x[i] == Approx(std::sqrt(next) * x0 + std::sqrt(1 - next) * kOutput[i]).epsilon(1e-6));
  }
  for (const double eta : {0.5, 1.0}) {
    SamplerOptions noisy = options;
    noisy.eta = eta;
    const double sigma = eta * std::sqrt((1 - next) / (1 - here)) * std::sqrt(1 - here / next);
    const double x0 = (kX[1] - std::sqrt(1 - here) * kOutput[1]) / std::sqrt(here);
    const double mean = std::sqrt(next) * x0 + std::sqrt(1 - next - sigma * sigma) * kOutput[1];
    const Spread spread = SpreadOf(noisy, 2);
    CHECK(spread.mean == Approx(mean).margin(0.02 * sigma));
    CHECK(spread.std == Approx(sigma).epsilon(0.02));
  }
}

TEST_CASE("all kinds of predictions make the same step", "[diffusion]") {
  for (const SamplerKind kind : {SamplerKind::kDdpm, SamplerKind::kDdim, SamplerKind::kDpmSolver}) {
    INFO(NameOf(kind));
    SamplerOptions options{.kind = kind, .steps = 10, .schedule = kTen, .eta = 0.3};
    const double here = AlphaBar(9);
    std::vector<float> expected = kX;
    MakeSampler(options)->Step(0, kOutput, expected);
    for (const PredictionKind prediction : {PredictionKind::kVelocity, PredictionKind::kSample}) {
      options.prediction = prediction;
      std::vector<float> x = kX, output(3);
      for (std::size_t i = 0; i < 3; ++i) {
        const double x0 = (kX[i] - std::sqrt(1 - here) * kOutput[i]) / std::sqrt(here);
        output[i] =
            static_cast<float>(prediction == PredictionKind::kSample
                                   ? x0
                                   : std::sqrt(here) * kOutput[i] - std::sqrt(1 - here) * x0);
      }
      MakeSampler(options)->Step(0, output, x);
      for (std::size_t i = 0; i < 3; ++i) CHECK(x[i] == Approx(expected[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("predicted data are clipped where that is asked for", "[diffusion]") {
  const SamplerOptions options{.kind = SamplerKind::kDdim,
                               .steps = 1,
                               .schedule = kTen,
                               .prediction = PredictionKind::kSample,
                               .clip = 1};
  CHECK(StepOf(options, 0) == std::vector<float>{-0.4F, 0.9F, 1.0F});
}

TEST_CASE("steps of dpm-solver++ are algorithm 2", "[diffusion]") {
  const SamplerOptions options{.kind = SamplerKind::kDpmSolver,
                               .steps = 5,
                               .schedule = kTen,
                               .prediction = PredictionKind::kSample};  // 9, 7, 5, 3, 1
  const auto alpha = [](std::int64_t t) { return std::sqrt(AlphaBar(t)); };
  const auto sigma = [](std::int64_t t) { return std::sqrt(1 - AlphaBar(t)); };
  const auto lambda = [&](std::int64_t t) { return std::log(alpha(t) / sigma(t)); };
  const std::vector<float> first = StepOf(options, 0), third = StepOf(options, 2);
  const std::vector<float> last = StepOf(options, 4);
  const double earlier[] = {0.25, -0.5, 0.75};
  for (std::size_t i = 0; i < 3; ++i) {
    double h = lambda(7) - lambda(9);
    CHECK(first[i] ==
          Approx(sigma(7) / sigma(9) * kX[i] - alpha(7) * (std::exp(-h) - 1) * kOutput[i]));
    h = lambda(3) - lambda(5);
    const double r = (lambda(5) - lambda(7)) / h;
    const double d = (1 + 1 / (2 * r)) * kOutput[i] - 1 / (2 * r) * earlier[i];
    CHECK(third[i] == Approx(sigma(3) / sigma(5) * kX[i] - alpha(3) * (std::exp(-h) - 1) * d));
    CHECK(last[i] == Approx(kOutput[i]));  // what was predicted: no noise is left
  }
}

TEST_CASE("euler is exact on straight paths in any number of steps", "[diffusion]") {
  for (const FlowDirection direction : {FlowDirection::kDataAtZero, FlowDirection::kDataAtOne}) {
    for (const double shift : {1.0, 3.0}) {
      for (const std::int64_t steps : {1, 2, 7}) {
        const SamplerOptions options{.kind = SamplerKind::kEulerFlow,
                                     .steps = steps,
                                     .direction = direction,
                                     .shift = shift};
        const auto sampler = MakeSampler(options);
        const std::vector<float> data = {1.5F, -2, 0.25F};
        std::vector<float> velocity(3), x = kX;
        FillVelocity(direction, data, kX, velocity);
        for (std::int64_t step = 0; step < steps; ++step) {
          const double even = static_cast<double>(steps - step) / static_cast<double>(steps);
          const double noise = shift * even / (1 + (shift - 1) * even);
          const bool at_zero = direction == FlowDirection::kDataAtZero;
          CHECK(sampler->TimeOf(step) == Approx(at_zero ? noise : 1 - noise).margin(1e-12));
          for (std::size_t i = 0; i < 3; ++i) {
            CHECK(x[i] == Approx(data[i] + noise * (kX[i] - data[i])).margin(1e-5));
          }
          sampler->Step(step, velocity, x);
        }
        for (std::size_t i = 0; i < 3; ++i) CHECK(x[i] == Approx(data[i]).margin(1e-5));
      }
    }
  }
}

TEST_CASE("samplers refuse what they cannot do", "[diffusion][errors]") {
  for (const SamplerKind kind :
       {SamplerKind::kDdpm, SamplerKind::kDdim, SamplerKind::kDpmSolver, SamplerKind::kEulerFlow}) {
    INFO(NameOf(kind));
    SamplerOptions options{.kind = kind, .steps = 0};
    CHECK_THROWS_WITH(MakeSampler(options),
                      Catch::Contains("at least 1 step") && Catch::Contains("asked for 0"));
    options.steps = 1001;
    if (kind != SamplerKind::kEulerFlow) CHECK_THROWS_AS(MakeSampler(options), ConfigError);
    options = {.kind = kind, .steps = 3};
    const auto sampler = MakeSampler(options);
    std::vector<float> x = kX, longer(4);
    CHECK_THROWS_AS(sampler->Step(0, longer, x), UsageError);
    CHECK_THROWS_AS(sampler->Step(1, kOutput, x), UsageError);
    CHECK_THROWS_AS(sampler->Step(-1, kOutput, x), UsageError);
    CHECK(x == kX);
    sampler->Step(0, kOutput, x);
    CHECK_THROWS_AS(sampler->Step(1, longer, longer), UsageError);
    sampler->Step(1, kOutput, x);
    sampler->Step(2, kOutput, x);
    CHECK_THROWS_AS(sampler->Step(3, kOutput, x), UsageError);
    sampler->Step(0, longer, longer);  // begins anew
  }
  CHECK_THROWS_AS(MakeSampler({.eta = 1.5}), ConfigError);
  CHECK_THROWS_AS(MakeSampler({.eta = NAN}), ConfigError);
  CHECK_THROWS_AS(MakeSampler({.clip = -1}), ConfigError);
  CHECK_THROWS_AS(MakeSampler({.kind = SamplerKind::kEulerFlow, .shift = 0}), ConfigError);
}

}  // namespace
}  // namespace frugal
