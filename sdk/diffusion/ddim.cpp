#include <cmath>

#include "sdk/core/random.h"
#include "sdk/diffusion/diffusion_steps.h"
#include "sdk/diffusion/sampler.h"

namespace frugal {
namespace {

// x_s = sqrt(alpha_bar_s) x0 + sqrt(1 - alpha_bar_s - sigma^2) n + sigma fresh noise (Song et al.,
// arXiv:2010.02502, equations 12 and 16).
class Ddim final : public Sampler {
 public:
  explicit Ddim(const SamplerOptions& options)
      : steps_(options), seed_(options.seed), eta_(options.eta) {}

  std::int64_t steps() const override { return steps_.count(); }
  double TimeOf(std::int64_t step) const override { return static_cast<double>(steps_.Time(step)); }

 private:
  void Advance(std::int64_t step, std::span<const float> output, std::span<float> x) override {
    const NoiseLevel level = steps_.Level(step);
    const double here = steps_.AlphaBar(step), next = steps_.AlphaBar(step + 1);
    const double sigma = eta_ * std::sqrt((1 - next) / (1 - here) * (1 - here / next));
    const double kept = std::sqrt(std::max(0.0, 1 - next - sigma * sigma));
    const std::uint64_t key = StepNoiseKey(seed_, step);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Prediction prediction = steps_.Read(level, x[i], output[i]);
      const double noise = sigma > 0 ? sigma * NormalAt(key, i) : 0;
      x[i] =
          static_cast<float>(std::sqrt(next) * prediction.sample + kept * prediction.noise + noise);
    }
  }

  DiffusionSteps steps_;
  std::uint64_t seed_;
  double eta_;
};

}  // namespace

std::unique_ptr<Sampler> MakeDdimSampler(const SamplerOptions& options) {
  return std::make_unique<Ddim>(options);
}

}  // namespace frugal
