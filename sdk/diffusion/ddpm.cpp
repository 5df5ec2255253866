#include <cmath>

#include "sdk/core/random.h"
#include "sdk/diffusion/diffusion_steps.h"
#include "sdk/diffusion/sampler.h"

namespace frugal {
namespace {

// Draws from q(x_s | x_t, x0) (Ho et al., arXiv:2006.11239, equations 6 and 7), where s may lie
// several steps before t: beta is then that of the steps between them together.
class Ddpm final : public Sampler {
 public:
  explicit Ddpm(const SamplerOptions& options)
      : steps_(options), seed_(options.seed), large_variance_(options.large_variance) {}

  std::int64_t steps() const override { return steps_.count(); }
  double TimeOf(std::int64_t step) const override { return static_cast<double>(steps_.Time(step)); }

 private:
  void Advance(std::int64_t step, std::span<const float> output, std::span<float> x) override {
    const NoiseLevel level = steps_.Level(step);
    const double here = steps_.AlphaBar(step), next = steps_.AlphaBar(step + 1);
    const double alpha = here / next, beta = 1 - alpha;
    const double of_sample = std::sqrt(next) * beta / (1 - here);
    const double of_x = std::sqrt(alpha) * (1 - next) / (1 - here);
    const double variance = large_variance_ ? beta : beta * (1 - next) / (1 - here);
    const double deviation = steps_.IsLast(step) ? 0 : std::sqrt(variance);
    const std::uint64_t key = StepNoiseKey(seed_, step);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double before = x[i];
      const double sample = steps_.Read(level, before, output[i]).sample;
      const double noise = deviation > 0 ? deviation * NormalAt(key, i) : 0;
      x[i] = static_cast<float>(of_sample * sample + of_x * before + noise);
    }
  }

  DiffusionSteps steps_;
  std::uint64_t seed_;
  bool large_variance_;
};

}  // namespace

std::unique_ptr<Sampler> MakeDdpmSampler(const SamplerOptions& options) {
  return std::make_unique<Ddpm>(options);
}

}  // namespace frugal
