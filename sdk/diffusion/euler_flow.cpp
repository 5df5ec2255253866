#include "sdk/core/error.h"
#include "sdk/diffusion/diffusion_steps.h"
#include "sdk/diffusion/sampler.h"

namespace frugal {
namespace {

class EulerFlow final : public Sampler {
 public:
  explicit EulerFlow(const SamplerOptions& options)
      : steps_(options.steps), direction_(options.direction), shift_(options.shift) {}

  std::int64_t steps() const override { return steps_; }
  double TimeOf(std::int64_t step) const override {
    const double noise = NoiseShare(step);
    return direction_ == FlowDirection::kDataAtZero ? noise : 1 - noise;
  }

 private:
  void Advance(std::int64_t step, std::span<const float> output, std::span<float> x) override {
    const double length = TimeOf(step + 1) - TimeOf(step);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(x[i] + length * static_cast<double>(output[i]));
    }
  }

  // From 1 at the first step to 0 behind the last one.
  double NoiseShare(std::int64_t step) const {
    const double even = static_cast<double>(steps_ - step) / static_cast<double>(steps_);
    return shift_ * even / (1 + (shift_ - 1) * even);
  }

  std::int64_t steps_;
  FlowDirection direction_;
  double shift_;
};

}  // namespace

std::unique_ptr<Sampler> MakeEulerFlow(const SamplerOptions& options) {
  if (options.steps < 1) {
    throw ConfigError({.where = "sampler",
                       .required = "a sampler takes at least 1 step",
                       .given = "it was asked for " + std::to_string(options.steps),
                       .advice = "20 to 50 are usual"});
  }
  if (!(options.shift > 0)) {
    throw ConfigError({.where = "sampler",
                       .required = "the shift of a flow's times is positive",
                       .given = "it is " + std::to_string(options.shift),
                       .advice = "1 leaves the times as they are"});
  }
  return std::make_unique<EulerFlow>(options);
}

}  // namespace frugal
