#pragma once

#include <algorithm>
#include <memory>

#include "sdk/diffusion/sampler_options.h"

namespace frugal {

class Sampler;

// The times of a sampler of a noise schedule and what a network's output means at each.
class DiffusionSteps {
 public:
  explicit DiffusionSteps(const SamplerOptions& options)
      : schedule_(options.schedule),
        times_(Timesteps(schedule_.steps(), options.steps, options.spacing)),
        kind_(options.prediction),
        clip_(options.clip) {}

  std::int64_t count() const { return static_cast<std::int64_t>(times_.size()); }
  // -1 behind the last step: data.
  std::int64_t Time(std::int64_t step) const {
    return step < count() ? times_[static_cast<std::size_t>(step)] : -1;
  }
  bool IsLast(std::int64_t step) const { return step + 1 == count(); }
  double AlphaBar(std::int64_t step) const { return schedule_.AlphaBar(Time(step)); }
  NoiseLevel Level(std::int64_t step) const { return schedule_.Level(Time(step)); }

  Prediction Read(const NoiseLevel& level, double x, double output) const {
    Prediction prediction = ReadPrediction(kind_, level, x, output);
    if (clip_ > 0) prediction.sample = std::clamp(prediction.sample, -clip_, clip_);
    return prediction;
  }

 private:
  NoiseSchedule schedule_;
  std::vector<std::int64_t> times_;
  PredictionKind kind_;
  double clip_;
};

// Normal noise of its own for each step and place.
std::uint64_t StepNoiseKey(std::uint64_t seed, std::int64_t step);

std::unique_ptr<Sampler> MakeDdpmSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeDdimSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeDpmSolver(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeEulerFlow(const SamplerOptions& options);

}  // namespace frugal
