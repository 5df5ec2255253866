#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sdk/diffusion/sampler_options.h"

namespace frugal {

// Goes from noise to data in steps. Each step asks the network once, at TimeOf(step), and moves x.
class Sampler {
 public:
  virtual ~Sampler() = default;

  virtual std::int64_t steps() const = 0;
  // A training time in [0, T), or in [0, 1] for a flow.
  virtual double TimeOf(std::int64_t step) const = 0;
  // x at TimeOf(step) -> x at TimeOf(step + 1), or data after the last step. Step 0 begins anew.
  // UsageError where steps do not come in order, or the number of numbers changes.
  void Step(std::int64_t step, std::span<const float> output, std::span<float> x);

 private:
  virtual void Advance(std::int64_t step, std::span<const float> output, std::span<float> x) = 0;

  std::int64_t next_ = 0;
  std::size_t count_ = 0;  // of the numbers in x since step 0
};

// ConfigError for steps that are not, an eta or a shift that makes no sense, or a wrong schedule.
std::unique_ptr<Sampler> MakeSampler(const SamplerOptions& options);

// The network: what it says of x at time t, as many numbers as x.
using Predict = std::function<void(std::span<const float> x, double t, std::span<float> output)>;

// Standard normal noise, the same for the same seed and place in x.
void FillNoise(std::uint64_t seed, std::span<float> x);
// Runs all steps on x, which holds noise and then data.
void RunSampler(Sampler& sampler, const Predict& predict, std::span<float> x);
// Both: `count` numbers of data.
std::vector<float> Sample(const SamplerOptions& options, const Predict& predict, std::size_t count);

}  // namespace frugal
