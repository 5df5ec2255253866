#include <cmath>

#include "sdk/diffusion/diffusion_steps.h"
#include "sdk/diffusion/sampler.h"

namespace frugal {
namespace {

// DPM-Solver++(2M): the data that the network predicts are extended in a straight line over lambda
// = log(signal / noise) (Lu et al., arXiv:2211.01095, algorithm 2). The first step has no line yet,
// and the last one, to data without noise, where lambda is infinite, ends at what was predicted.
class DpmSolver final : public Sampler {
 public:
  explicit DpmSolver(const SamplerOptions& options) : steps_(options) {}

  std::int64_t steps() const override { return steps_.count(); }
  double TimeOf(std::int64_t step) const override { return static_cast<double>(steps_.Time(step)); }

 private:
  void Advance(std::int64_t step, std::span<const float> output, std::span<float> x) override {
    const NoiseLevel here = steps_.Level(step), next = steps_.Level(step + 1);
    const bool is_line = step > 0 && !steps_.IsLast(step);
    if (step == 0) before_.assign(x.size(), 0);
    const double forward = Lambda(step + 1) - Lambda(step);
    // 1 / (2 r), with r the ratio of the step before to this one
    const double slope = is_line ? forward / (2 * (Lambda(step) - Lambda(step - 1))) : 0;
    const double of_sample = next.signal * -std::expm1(-forward);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double sample = steps_.Read(here, x[i], output[i]).sample;
      const double extended = sample + slope * (sample - before_[i]);
      x[i] = static_cast<float>(next.noise / here.noise * x[i] + of_sample * extended);
      before_[i] = sample;
    }
  }

  double Lambda(std::int64_t step) const {
    const NoiseLevel level = steps_.Level(step);
    return std::log(level.signal / level.noise);
  }

  DiffusionSteps steps_;
  std::vector<double> before_;  // the data predicted in the step before
};

}  // namespace

std::unique_ptr<Sampler> MakeDpmSolver(const SamplerOptions& options) {
  return std::make_unique<DpmSolver>(options);
}

}  // namespace frugal
