#include "sdk/train/diffusion.h"

#include <cmath>
#include <numeric>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kSize = 6;  // numbers of one sample

NetworkInputs Inputs() {
  return {{.name = "x", .role = InputRole::kSample, .shape = {2, 3, 1}},
          {.name = "t", .role = InputRole::kTime},
          {.name = "y", .role = InputRole::kLabel, .classes = 4}};
}

// Returns number `i` of a sample of the data, the same in whatever batch the sample is.
double DataAt(std::int64_t sample, std::int64_t i) {
  return 0.1 * static_cast<double>(sample % 9) - 0.3 + 0.05 * static_cast<double>(i);
}

Batch DataOf(const std::vector<std::int64_t>& samples, DType dtype) {
  std::vector<double> x;
  std::vector<std::int64_t> labels;
  for (const std::int64_t sample : samples) {
    for (std::int64_t i = 0; i < kSize; ++i) x.push_back(DataAt(sample, i));
    labels.push_back(sample % 3);
  }
  const auto count = static_cast<std::int64_t>(samples.size());
  return {.inputs = {{MakeTensor({count, 2, 3, 1}, x, dtype)}},
          .targets = MakeTensor({count}, labels, DType::kI64)};
}

struct Noised {
  std::vector<double> x, t, labels, target;
  bool operator==(const Noised&) const = default;
};

struct Place {
  std::uint64_t seed = 7;
  std::int64_t step = 3;
  std::int64_t micro_batch = 0;
  bool training = true;
  EnvironmentKind kind = kReferenceF64;
};

Noised NoisedBy(const DiffusionOptions& options, const std::vector<std::int64_t>& samples,
                const Place& place = {}) {
  TestEnvironment environment(place.kind, place.seed);
  environment.context().set_step(place.step);
  environment.context().set_micro_batch(place.micro_batch);
  environment.context().set_training(place.training);
  Batch batch = DataOf(samples, environment.dtype());
  DiffusionProcess(options).Noise(environment.context(), Inputs(), samples, batch);
  REQUIRE(batch.inputs.size() == 3);
  return {Values(batch.inputs[0].value), Values(batch.inputs[1].value),
          Values(batch.inputs[2].value), Values(batch.targets)};
}

DiffusionOptions NoiseOptions(PredictionKind prediction = PredictionKind::kEpsilon) {
  return {.kind = DiffusionKind::kNoise, .prediction = prediction, .label_dropout = 0};
}
DiffusionOptions FlowOptions(FlowDirection direction = FlowDirection::kDataAtZero) {
  return {.kind = DiffusionKind::kFlow, .direction = direction, .label_dropout = 0};
}

std::vector<std::int64_t> Numbers(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void Append(Noised& all, const Noised& more) {
  for (const auto part : {&Noised::x, &Noised::t, &Noised::labels, &Noised::target}) {
    (all.*part).insert((all.*part).end(), (more.*part).begin(), (more.*part).end());
  }
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST_CASE("what is drawn for a sample is the same in any batch") {
  for (DiffusionOptions options : {NoiseOptions(), FlowOptions()}) {
    options.label_dropout = 0.5;
    const Noised whole = NoisedBy(options, {5, 0, 17, 2, 900});
    Noised split = NoisedBy(options, {5});
    Append(split, NoisedBy(options, {0, 17}, {.micro_batch = 1}));
    Append(split, NoisedBy(options, {2, 900}, {.micro_batch = 2}));
    CHECK(whole == split);
  }
}

TEST_CASE("what is drawn differs from step to step, seed to seed and sample to sample") {
  for (const DiffusionOptions& options : {NoiseOptions(), FlowOptions()}) {
    const Noised once = NoisedBy(options, {1, 2});
    CHECK(once == NoisedBy(options, {1, 2}));
    for (const Place& other : {Place{.step = 4}, Place{.seed = 8}, Place{.training = false}}) {
      const Noised another = NoisedBy(options, {1, 2}, other);
      CHECK(once.t != another.t);
      CHECK(once.target != another.target);
    }
    const Noised same_data = NoisedBy(options, {1, 10, 19});  // of equal values
    CHECK(same_data.t[0] != same_data.t[1]);
    CHECK(same_data.t[1] != same_data.t[2]);
    CHECK(same_data.x[0] != same_data.x[kSize]);
  }
}

TEST_CASE("an evaluation draws the same at any step") {
  for (const DiffusionOptions& options : {NoiseOptions(), FlowOptions()}) {
    const Noised once = NoisedBy(options, {4, 5}, {.step = 0, .training = false});
    CHECK(once == NoisedBy(options, {4, 5}, {.step = 77, .training = false}));
    CHECK(once.x != NoisedBy(options, {4, 5}, {.seed = 1, .training = false}).x);
  }
}

TEST_CASE("noised data and targets are those of the schedule") {
  const std::vector<std::int64_t> samples = Numbers(40);
  for (const BetaSchedule betas :
       {BetaSchedule::kLinear, BetaSchedule::kScaledLinear, BetaSchedule::kCosine}) {
    for (const std::int64_t steps : {1000, 50}) {
      const auto options = [&](PredictionKind prediction) {
        DiffusionOptions o = NoiseOptions(prediction);
        o.betas = betas;
        o.steps = steps;
        o.first_beta = 2e-3;
        o.last_beta = 0.05;
        return o;
      };
      const NoiseSchedule schedule(
          {.betas = betas, .steps = steps, .first_beta = 2e-3, .last_beta = 0.05});
      const Noised epsilon = NoisedBy(options(PredictionKind::kEpsilon), samples);
      const Noised velocity = NoisedBy(options(PredictionKind::kVelocity), samples);
      const Noised sample = NoisedBy(options(PredictionKind::kSample), samples);
      CHECK(epsilon.x == velocity.x);
      CHECK(epsilon.t == sample.t);
      for (std::size_t n = 0; n < samples.size(); ++n) {
        const double t = epsilon.t[n] * static_cast<double>(steps) / 1000;
        CHECK(t == Approx(std::round(t)).margin(1e-9));
        REQUIRE((t >= 0 && t < static_cast<double>(steps)));
        const NoiseLevel level = schedule.Level(std::lround(t));
        for (std::size_t i = 0; i < kSize; ++i) {
          const double x0 = DataAt(samples[n], static_cast<std::int64_t>(i));
          const std::size_t at = n * kSize + i;
          const double noise = epsilon.target[at];
          CHECK(epsilon.x[at] == Approx(level.signal * x0 + level.noise * noise));
          CHECK(sample.target[at] == Approx(x0));
          CHECK(velocity.target[at] ==
                Approx(level.signal * noise - level.noise * x0).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("noised data and targets lie on straight paths, from either end") {
  const std::vector<std::int64_t> samples = Numbers(40);
  for (const FlowTimes times : {FlowTimes::kUniform, FlowTimes::kLogitNormal}) {
    DiffusionOptions options = FlowOptions();
    options.times = times;
    const Noised from_data = NoisedBy(options, samples);
    options.direction = FlowDirection::kDataAtOne;
    const Noised to_data = NoisedBy(options, samples);
    for (std::size_t at = 0; at < from_data.x.size(); ++at) {
      const auto n = static_cast<std::int64_t>(at) / kSize;
      const double x0 = DataAt(n, static_cast<std::int64_t>(at) % kSize);
      const double t = from_data.t[static_cast<std::size_t>(n)] / 1000;
      REQUIRE((t >= 0 && t < 1));
      const double noise = from_data.target[at] + x0;
      CHECK(from_data.x[at] == Approx((1 - t) * x0 + t * noise).margin(1e-12));
      CHECK(to_data.target[at] == Approx(x0 - noise).margin(1e-12));
      CHECK(to_data.x[at] == Approx(t * x0 + (1 - t) * noise).margin(1e-12));
    }
  }
}

TEST_CASE("noise is standard normal, times are spread as they should be") {
  const std::vector<std::int64_t> samples = Numbers(4000);
  const Noised noise = NoisedBy(NoiseOptions(), samples);
  CHECK(std::abs(Mean(noise.target)) < 5 / std::sqrt(24000.0));
  std::vector<double> squares = noise.target;
  for (double& value : squares) value *= value;
  CHECK(Mean(squares) == Approx(1).margin(5 * std::sqrt(2 / 24000.0)));
  CHECK(Mean(noise.t) == Approx(500).margin(5 * 289 / std::sqrt(4000.0)));

  const auto middle = [&](FlowTimes times) {
    DiffusionOptions options = FlowOptions();
    options.times = times;
    std::vector<double> inside = NoisedBy(options, samples).t;
    for (double& t : inside) t = std::abs(t - 500) < 250 ? 1 : 0;
    return Mean(inside);
  };
  // P(|z| < log 3) of a normal z.
  CHECK(middle(FlowTimes::kUniform) == Approx(0.5).margin(0.04));
  CHECK(middle(FlowTimes::kLogitNormal) == Approx(0.728).margin(0.036));
}

TEST_CASE("labels are dropped in training, as often as asked") {
  const std::vector<std::int64_t> samples = Numbers(4000);
  const Noised all = NoisedBy(FlowOptions(), samples);
  for (const double share : {0.1, 0.7}) {
    DiffusionOptions options = FlowOptions();
    options.label_dropout = share;
    const Noised some = NoisedBy(options, samples);
    CHECK(some.x == all.x);  // nothing else depends on it
    double dropped = 0;
    for (std::size_t n = 0; n < samples.size(); ++n) {
      if (some.labels[n] == all.labels[n]) continue;
      CHECK(some.labels[n] == 3);  // the last of four
      ++dropped;
    }
    const double count = 4000;
    CHECK(dropped / count == Approx(share).margin(5 * std::sqrt(share * (1 - share) / count)));
    CHECK(NoisedBy(options, samples, {.training = false}).labels == all.labels);
    CHECK(NoisedBy(options, samples, {.step = 4}).labels != some.labels);
  }
  CHECK(NoLabel(Inputs()[2]) == 3);
}

TEST_CASE("in single precision the same is drawn") {
  const Noised exact = NoisedBy(FlowOptions(), Numbers(30));
  const Noised single = NoisedBy(FlowOptions(), Numbers(30), {.kind = kReferenceF32});
  CHECK(MaxError(single.x, exact.x) < 1e-6);
  CHECK(MaxError(single.target, exact.target) < 1e-6);
  CHECK(MaxError(single.t, exact.t) < 1e-3);
}

TEST_CASE("other conditions go in as they are, each in its place") {
  TestEnvironment environment(kReferenceF64);
  const NetworkInputs inputs = {{.name = "x", .role = InputRole::kSample, .shape = {2, 3, 1}},
                                {.name = "context", .role = InputRole::kValues, .shape = {5}},
                                {.name = "t", .role = InputRole::kTime, .time_range = 1},
                                {.name = "pooled", .role = InputRole::kValues, .shape = {2}}};
  Batch batch = DataOf({0, 1}, DType::kF64);
  const Tensor context = RandomTensor({2, 5}, 1, DType::kF64);
  const Tensor pooled = RandomTensor({2, 2}, 2, DType::kF64);
  batch.inputs.push_back({context});
  batch.inputs.push_back({pooled});
  const std::vector<std::int64_t> samples = {0, 1};
  DiffusionProcess(FlowOptions()).Noise(environment.context(), inputs, samples, batch);
  REQUIRE(batch.inputs.size() == 4);
  CHECK(batch.inputs[1].value.raw() == context.raw());
  CHECK(batch.inputs[3].value.raw() == pooled.raw());
  CHECK(batch.inputs[2].shape() == Shape{2});
  CHECK(Values(batch.inputs[2].value)[0] < 1);
  CHECK(batch.targets.shape() == Shape{2, 2, 3, 1});
}

TEST_CASE("a sampler speaks of the times that the network was trained on") {
  const NetworkInput time = {.name = "t", .role = InputRole::kTime, .time_range = 1000};
  DiffusionOptions noise = NoiseOptions(PredictionKind::kVelocity);
  noise.steps = 50;
  CHECK(DiffusionProcess(noise).NetworkTime(49, time) == Approx(980));
  CHECK(DiffusionProcess(FlowOptions()).NetworkTime(0.25, time) == 250);
  const SamplerOptions of_noise = DiffusionProcess(noise).SamplerOf(7, std::nullopt, 5);
  CHECK(of_noise.kind == SamplerKind::kDdim);
  CHECK(of_noise.steps == 7);
  CHECK(of_noise.seed == 5);
  CHECK(of_noise.schedule.steps == 50);
  CHECK(of_noise.prediction == PredictionKind::kVelocity);
  noise.sampler = SamplerKind::kDpmSolver;
  CHECK(DiffusionProcess(noise).SamplerOf(7, std::nullopt, 5).kind == SamplerKind::kDpmSolver);
  CHECK(DiffusionProcess(noise).SamplerOf(7, SamplerKind::kDdpm, 5).kind == SamplerKind::kDdpm);
  const SamplerOptions of_flow =
      DiffusionProcess(FlowOptions(FlowDirection::kDataAtOne)).SamplerOf(7, std::nullopt, 5);
  CHECK(of_flow.kind == SamplerKind::kEulerFlow);
  CHECK(of_flow.direction == FlowDirection::kDataAtOne);
}

TEST_CASE("a schedule that makes no sense is refused") {
  DiffusionOptions options = NoiseOptions();
  options.steps = 0;
  CHECK_THROWS_AS(DiffusionProcess(options), ConfigError);
  options = NoiseOptions();
  options.last_beta = 2;
  CHECK_THROWS_AS(DiffusionProcess(options), ConfigError);
}

TEST_CASE("kinds of diffusion and of times have names") {
  CHECK(NameOf(DiffusionKind::kNone) == "none");
  CHECK(NameOf(DiffusionKind::kNoise) == "noise");
  CHECK(NameOf(DiffusionKind::kFlow) == "flow");
  CHECK(NameOf(FlowTimes::kUniform) == "uniform");
  CHECK(NameOf(FlowTimes::kLogitNormal) == "logit_normal");
}

}  // namespace
}  // namespace frugal::testing
