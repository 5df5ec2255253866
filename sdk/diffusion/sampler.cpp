#include "sdk/diffusion/sampler.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sdk/core/error.h"
#include "sdk/core/random.h"
#include "sdk/diffusion/diffusion_steps.h"

namespace frugal {
namespace {

void CheckNumber(bool is_good, std::string_view required, double given) {
  if (is_good) return;
  throw ConfigError({.where = "sampler",
                     .required = std::string(required),
                     .given = "it is " + std::to_string(given),
                     .advice = "0 is usual"});
}

}  // namespace

std::unique_ptr<Sampler> MakeSampler(const SamplerOptions& options) {
  CheckNumber(options.eta >= 0 && options.eta <= 1, "eta lies in [0, 1]", options.eta);
  CheckNumber(options.clip >= 0, "the bound of predicted data is not negative", options.clip);
  switch (options.kind) {
    case SamplerKind::kDdpm:
      return MakeDdpmSampler(options);
    case SamplerKind::kDdim:
      return MakeDdimSampler(options);
    case SamplerKind::kDpmSolver:
      return MakeDpmSolver(options);
    case SamplerKind::kEulerFlow:
      break;
  }
  return MakeEulerFlow(options);
}

void Sampler::Step(std::int64_t step, std::span<const float> output, std::span<float> x) {
  if (step == 0) {
    next_ = 0;
    count_ = x.size();
  }
  const bool fits = output.size() == x.size() && x.size() == count_;
  if (step != next_ || step >= steps() || !fits) {
    throw UsageError({.where = "sampler",
                      .required = "the steps 0 to " + std::to_string(steps() - 1) +
                                  " come in order, with x and the output of one size",
                      .given = "step " + std::to_string(step) + " came after " +
                               std::to_string(next_) + " steps, with " + std::to_string(x.size()) +
                               " and " + std::to_string(output.size()) + " numbers",
                      .advice = "begin with step 0"});
  }
  Advance(step, output, x);
  ++next_;
}

std::uint64_t StepNoiseKey(std::uint64_t seed, std::int64_t step) {
  return StreamKey(seed, "sampler/step", static_cast<std::uint64_t>(step) + 1);
}

void FillNoise(std::uint64_t seed, std::span<float> x) {
  const std::uint64_t key = StreamKey(seed, "sampler/start");
  std::vector<double> noise(x.size());
  FillNormals(key, 0, noise);
  std::ranges::transform(noise, x.begin(),
                         [](double number) { return static_cast<float>(number); });
}

void RunSampler(Sampler& sampler, const Predict& predict, std::span<float> x) {
  std::vector<float> output(x.size());
  for (std::int64_t step = 0; step < sampler.steps(); ++step) {
    predict(x, sampler.TimeOf(step), output);
    sampler.Step(step, output, x);
  }
}

std::vector<float> Sample(const SamplerOptions& options, const Predict& predict,
                          std::size_t count) {
  const auto sampler = MakeSampler(options);
  std::vector<float> x(count);
  FillNoise(options.seed, x);
  RunSampler(*sampler, predict, x);
  return x;
}

}  // namespace frugal
