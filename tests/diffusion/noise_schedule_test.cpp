#include "sdk/diffusion/noise_schedule.h"

#include <cmath>
#include <numbers>

#include "sdk/core/error.h"
#include "sdk/diffusion/prediction.h"
#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a linear schedule runs evenly between its betas", "[diffusion]") {
  const NoiseSchedule schedule({.steps = 1000});
  CHECK(schedule.steps() == 1000);
  CHECK(schedule.Beta(0) == Approx(1e-4));
  CHECK(schedule.Beta(999) == Approx(0.02));
  CHECK(schedule.Beta(400) == Approx(1e-4 + (0.02 - 1e-4) * 400 / 999));
  double alpha_bar = 1;
  for (int t = 0; t < 1000; ++t) alpha_bar *= 1 - (1e-4 + (0.02 - 1e-4) * t / 999);
  CHECK(schedule.AlphaBar(999) == Approx(alpha_bar).epsilon(1e-10));
  CHECK(schedule.AlphaBar(999) == Approx(4.0358e-5).epsilon(1e-3));  // as published: about 4e-5
}

TEST_CASE("a scaled linear schedule is linear in the roots", "[diffusion]") {
  const NoiseSchedule schedule({.betas = BetaSchedule::kScaledLinear,
                                .steps = 1000,
                                .first_beta = 0.00085,
                                .last_beta = 0.012});
  CHECK(schedule.Beta(0) == Approx(0.00085));
  CHECK(schedule.Beta(999) == Approx(0.012));
  const double root = std::sqrt(0.00085) + (std::sqrt(0.012) - std::sqrt(0.00085)) * 333 / 999;
  CHECK(schedule.Beta(333) == Approx(root * root));
}

TEST_CASE("a cosine schedule follows the squared cosine until betas are capped", "[diffusion]") {
  const NoiseSchedule schedule({.betas = BetaSchedule::kCosine, .steps = 1000});
  const auto f = [](double part) {
    return std::pow(std::cos((part + 0.008) / 1.008 * std::numbers::pi / 2), 2);
  };
  for (const int t : {0, 1, 500, 900, 998}) {
    CHECK(schedule.AlphaBar(t) == Approx(f((t + 1) / 1000.0) / f(0)).epsilon(1e-9));
  }
  CHECK(schedule.Beta(999) == 0.999);
}

TEST_CASE("every schedule loses signal with every step, and keeps the variance", "[diffusion]") {
  for (const BetaSchedule betas :
       {BetaSchedule::kLinear, BetaSchedule::kScaledLinear, BetaSchedule::kCosine}) {
    for (const std::int64_t steps : {1, 2, 17, 1000}) {
      INFO(NameOf(betas) << ", " << steps << " steps");
      const NoiseSchedule schedule({.betas = betas, .steps = steps});
      CHECK(schedule.AlphaBar(-1) == 1);
      CHECK(schedule.Level(-1).noise == 0);
      for (std::int64_t t = 0; t < steps; ++t) {
        REQUIRE(schedule.AlphaBar(t) < schedule.AlphaBar(t - 1));
        REQUIRE(schedule.AlphaBar(t) > 0);
        const auto [signal, noise] = schedule.Level(t);
        REQUIRE(signal * signal + noise * noise == Approx(1).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a schedule refuses what is none", "[diffusion][errors]") {
  CHECK_THROWS_WITH(NoiseSchedule({.steps = 0}), Catch::Contains("at least one step"));
  CHECK_THROWS_AS(NoiseSchedule({.steps = -5}), ConfigError);
  CHECK_THROWS_AS(NoiseSchedule({.first_beta = 0}), ConfigError);
  CHECK_THROWS_AS(NoiseSchedule({.last_beta = 1}), ConfigError);
  CHECK_THROWS_AS(NoiseSchedule({.last_beta = NAN}), ConfigError);
  const NoiseSchedule schedule({.steps = 10});
  CHECK_THROWS_AS(schedule.AlphaBar(10), UsageError);
  CHECK_THROWS_AS(schedule.Level(-2), UsageError);
}

TEST_CASE("what a network should say leads back to data and noise", "[diffusion]") {
  const NoiseSchedule schedule;
  for (const PredictionKind kind :
       {PredictionKind::kEpsilon, PredictionKind::kVelocity, PredictionKind::kSample}) {
    for (const int t : {0, 10, 500, 999}) {
      INFO(NameOf(kind) << " at " << t);
      const NoiseLevel level = schedule.Level(t);
      const double x0 = 0.7, noise = -1.3;
      const double x = level.signal * x0 + level.noise * noise;
      const double target = TargetOf(kind, level, x0, noise);
      const Prediction read = ReadPrediction(kind, level, x, target);
      CHECK(read.sample == Approx(x0).epsilon(1e-9));
      CHECK(read.noise == Approx(noise).epsilon(1e-9));
    }
  }
  const NoiseLevel level = {0.6, 0.8};
  CHECK(TargetOf(PredictionKind::kVelocity, level, 2, 3) == Approx(0.6 * 3 - 0.8 * 2));
}

TEST_CASE("arrays are mixed, targeted and guided element by element", "[diffusion]") {
  const std::vector<float> x0 = {1, 2}, noise = {-1, 4};
  std::vector<float> y(2);
  AddNoise({0.6, 0.8}, x0, noise, y);
  CHECK(y[0] == Approx(0.6 - 0.8));
  CHECK(y[1] == Approx(0.6 * 2 + 0.8 * 4));
  FillTarget(PredictionKind::kVelocity, {0.6, 0.8}, x0, noise, y);
  CHECK(y[1] == Approx(0.6 * 4 - 0.8 * 2));
  FillVelocity(FlowDirection::kDataAtZero, x0, noise, y);
  CHECK(y[1] == 2);
  FillVelocity(FlowDirection::kDataAtOne, x0, noise, y);
  CHECK(y[1] == -2);
  Guided(x0, noise, 7.5, y);
  CHECK(y[0] == Approx(-1 + 7.5 * 2));
  Guided(x0, noise, 1, y);
  CHECK(y == x0);
  Guided(x0, noise, 0, y);
  CHECK(y == noise);
  std::vector<float> wrong(3);
  CHECK_THROWS_AS(Guided(x0, noise, 1, wrong), UsageError);
  CHECK_THROWS_AS(AddNoise({}, x0, wrong, y), UsageError);
}

TEST_CASE("a flow is a straight path whose velocity is its derivative", "[diffusion]") {
  for (const FlowDirection direction : {FlowDirection::kDataAtZero, FlowDirection::kDataAtOne}) {
    const std::vector<float> x0 = {3}, noise = {-2};
    std::vector<float> velocity(1), early(1), late(1);
    FillVelocity(direction, x0, noise, velocity);
    AddNoise(FlowLevel(direction, 0.25), x0, noise, early);
    AddNoise(FlowLevel(direction, 0.75), x0, noise, late);
    CHECK((late[0] - early[0]) / 0.5 == Approx(velocity[0]));
    AddNoise(FlowLevel(direction, direction == FlowDirection::kDataAtZero ? 0 : 1), x0, noise,
             early);
    CHECK(early == x0);
  }
}

}  // namespace
}  // namespace frugal
