#include "sdk/diffusion/sampler.h"

#include <cmath>

#include "tests/catch.h"

// Whole runs with the exact network of data that are normal, N(mean, deviation^2).
namespace frugal {
namespace {

constexpr double kMean = 1.5, kDeviation = 0.4;
constexpr std::size_t kCount = 20000;

// E[noise | x_t] and E[x0 | x_t] for x_t = signal x0 + noise n.
Prediction Expected(const NoiseLevel& level, double x) {
  const double variance = std::pow(level.signal * kDeviation, 2) + std::pow(level.noise, 2);
  const double surprise = (x - level.signal * kMean) / variance;
  return {kMean + level.signal * kDeviation * kDeviation * surprise, level.noise * surprise};
}

Predict NetworkOf(const SamplerOptions& options) {
  return [=, schedule = NoiseSchedule(options.schedule)](std::span<const float> x, double t,
                                                         std::span<float> output) {
    const bool flow = options.kind == SamplerKind::kEulerFlow;
    const NoiseLevel level =
        flow ? FlowLevel(options.direction, t) : schedule.Level(static_cast<std::int64_t>(t));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Prediction p = Expected(level, x[i]);
      const double sign = options.direction == FlowDirection::kDataAtZero ? 1 : -1;
      output[i] = static_cast<float>(flow ? sign * (p.noise - p.sample)
                                          : TargetOf(options.prediction, level, p.sample, p.noise));
    }
  };
}

struct SampleSpread {
  double mean = 0, std = 0;
};
SampleSpread SpreadOf(const std::vector<float>& x) {
  SampleSpread spread;
  for (const float value : x) spread.mean += value / double{kCount};
  for (const float value : x) {
    spread.std += std::pow(value - spread.mean, 2) / double{kCount};
  }
  spread.std = std::sqrt(spread.std);
  return spread;
}

std::vector<SamplerOptions> Samplers() {
  std::vector<SamplerOptions> samplers;
  for (const PredictionKind prediction :
       {PredictionKind::kEpsilon, PredictionKind::kVelocity, PredictionKind::kSample}) {
    samplers.push_back(
        {.kind = SamplerKind::kDdpm, .steps = 200, .schedule = {}, .prediction = prediction});
    for (const double eta : {0.0, 1.0}) {
      samplers.push_back(
          {.kind = SamplerKind::kDdim, .steps = 200, .prediction = prediction, .eta = eta});
    }
    samplers.push_back({.kind = SamplerKind::kDpmSolver, .steps = 50, .prediction = prediction});
  }
  for (const FlowDirection direction : {FlowDirection::kDataAtZero, FlowDirection::kDataAtOne}) {
    samplers.push_back(
        {.kind = SamplerKind::kEulerFlow, .steps = 200, .direction = direction, .shift = 2});
  }
  return samplers;
}

TEST_CASE("samplers turn noise into the data of an exact network", "[diffusion]") {
  for (const SamplerOptions& options : Samplers()) {
    INFO(NameOf(options.kind) << " of " << NameOf(options.prediction) << ", eta " << options.eta);
    const SampleSpread spread = SpreadOf(Sample(options, NetworkOf(options), kCount));
    // Over 20000 draws, the mean is off by 0.003 and the deviation by 0.5%.
    CHECK(spread.mean == Approx(kMean).margin(0.02));
    CHECK(spread.std == Approx(kDeviation).epsilon(0.05));
  }
}

TEST_CASE("samplers repeat themselves for a seed, and only for that", "[diffusion]") {
  for (SamplerOptions options : Samplers()) {
    INFO(NameOf(options.kind));
    options.steps = 5;
    const auto sample = [&](std::uint64_t seed) {
      options.seed = seed;
      return Sample(options, NetworkOf(options), 50);
    };
    const std::vector<float> first = sample(1);
    CHECK(sample(1) == first);
    CHECK(sample(2) != first);
    CHECK(first[0] != first[1]);
  }
}

TEST_CASE("noise is standard normal, and that of a place", "[diffusion]") {
  std::vector<float> noise(kCount), some(100);
  FillNoise(3, noise);
  FillNoise(3, some);
  CHECK(std::equal(some.begin(), some.end(), noise.begin()));
  const SampleSpread spread = SpreadOf(noise);
  CHECK(spread.mean == Approx(0).margin(0.03));
  CHECK(spread.std == Approx(1).epsilon(0.02));
  FillNoise(3, std::span<float>());
}

TEST_CASE("dpm-solver++ needs fewer steps than ddim", "[diffusion]") {
  // From one start, towards what very many steps of ddim come to.
  const auto end = [](SamplerKind kind, std::int64_t steps) {
    const SamplerOptions options{.kind = kind, .steps = steps};
    return static_cast<double>(Sample(options, NetworkOf(options), 1)[0]);
  };
  const double exact = end(SamplerKind::kDdim, 1000);
  CHECK(std::abs(end(SamplerKind::kDpmSolver, 40) - exact) <
        std::abs(end(SamplerKind::kDdim, 40) - exact) / 2);
}

}  // namespace
}  // namespace frugal
