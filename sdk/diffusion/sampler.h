#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "sdk/diffusion/prediction.h"
#include "sdk/diffusion/timesteps.h"

namespace frugal {

enum class SamplerKind : std::uint8_t {
  kDdpm,       // ancestral (Ho et al., arXiv:2006.11239, algorithm 2)
  kDdim,       // Song et al., arXiv:2010.02502, equation 12
  kDpmSolver,  // DPM-Solver++(2M) (Lu et al., arXiv:2211.01095, algorithm 2)
  kEulerFlow,  // Euler's method along the velocity of a flow
};
std::string_view NameOf(SamplerKind kind);  // "ddpm", "ddim", "dpm_solver", "euler_flow"

struct SamplerOptions {
  SamplerKind kind = SamplerKind::kDdim;
  std::int64_t steps = 50;
  std::uint64_t seed = 0;  // of the first noise, and of what DDPM and DDIM add later

  // All but kEulerFlow:
  NoiseScheduleOptions schedule = {};
  PredictionKind prediction = PredictionKind::kEpsilon;
  TimestepSpacing spacing = TimestepSpacing::kTrailing;
  double clip = 0;  // predicted data are kept within +-clip; 0 = as they are
  // kDdim: 0 = no noise is added, 1 = as much as DDPM adds.
  double eta = 0;
  // kDdpm: adds beta instead of the posterior's variance, the upper of the two bounds.
  bool large_variance = false;

  // kEulerFlow:
  FlowDirection direction = FlowDirection::kDataAtZero;
  // Larger than 1: more steps where there is much noise, s' = shift s / (1 + (shift - 1) s) of the
  // noise's share s (Esser et al., arXiv:2403.03206, section 5.3.2).
  double shift = 1;
};

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
