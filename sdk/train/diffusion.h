#pragma once

#include <memory>
#include <optional>
#include <span>

#include "sdk/autograd/context.h"
#include "sdk/diffusion/sampler.h"
#include "sdk/module/network_input.h"
#include "sdk/train/batch.h"

namespace frugal {

enum class DiffusionKind : std::uint8_t {
  kNone,   // the network's target is the data's
  kNoise,  // a noise schedule (Ho et al., arXiv:2006.11239)
  kFlow,   // straight paths from noise to data (Lipman et al., arXiv:2210.02747)
};
std::string_view NameOf(DiffusionKind kind);  // "none", "noise", "flow"

// How training times of a flow are drawn (Esser et al., arXiv:2403.03206, section 3.1).
enum class FlowTimes : std::uint8_t { kUniform, kLogitNormal };
std::string_view NameOf(FlowTimes times);  // "uniform", "logit_normal"

// Training a network to take noise away, and sampling from it.
struct DiffusionOptions {
  DiffusionKind kind = DiffusionKind::kNone;
  // kNoise:
  BetaSchedule betas = BetaSchedule::kLinear;
  std::int64_t steps = 1000;
  double first_beta = 1e-4;
  double last_beta = 0.02;
  PredictionKind prediction = PredictionKind::kEpsilon;
  // kFlow:
  FlowDirection direction = FlowDirection::kDataAtZero;
  FlowTimes times = FlowTimes::kUniform;
  // Share of the samples whose label is replaced by "none" in training, for classifier-free
  // guidance.
  double label_dropout = 0.1;
  // The sampler that draws where none is named. Not given: ddim, or euler_flow.
  std::optional<SamplerKind> sampler{};
  std::int64_t sampler_steps = 50;
  double guidance = 1;  // 1: none
};

// Makes what a network is trained on: data at random times between data and noise.
class DiffusionProcess {
 public:
  // ConfigError for a schedule that makes no sense.
  explicit DiffusionProcess(const DiffusionOptions& options);

  const DiffusionOptions& options() const { return options_; }

  // Turns a batch of data into one of the network's inputs, and what it should say. The data's
  // first input becomes the noised sample, its labels the classes; other conditions go in as they
  // are. What is drawn depends on (seed, step, number of the sample) alone; outside of training, on
  // (seed, number of the sample).
  void Noise(Context& context, std::span<const NetworkInput> inputs,
             std::span<const std::int64_t> samples, Batch& batch) const;

  SamplerOptions SamplerOf(std::int64_t steps, std::optional<SamplerKind> kind,
                           std::uint64_t seed) const;
  // A sampler's time as the network takes it.
  double NetworkTime(double sampler_time, const NetworkInput& input) const;

 private:
  // Keys of a step's random numbers: of noise, and of what each sample draws once.
  struct Streams {
    std::uint64_t noise, own;
  };
  static Streams StreamsOf(const Context& context);
  struct Drawn {
    NoiseLevel level;
    double fraction = 0;  // of the time's range
  };
  Drawn Draw(std::uint64_t key, std::uint64_t index) const;
  double TargetAt(const NoiseLevel& level, double x0, double noise) const;
  // Names the noise of one sample: normal numbers first, first + 1, ... of a stream.
  struct NoisePlace {
    std::uint64_t key, first;
  };
  template <class T>
  void AddNoise(const NoiseLevel& level, const NoisePlace& place, std::span<T> x, T* target) const;
  template <class T>
  void Fill(const Streams& streams, std::span<const NetworkInput> inputs,
            std::span<const std::int64_t> samples, const Batch& batch, const Tensor& target) const;

  DiffusionOptions options_;
  std::optional<NoiseSchedule> schedule_;
};

// The label that stands for none: the last one.
std::int64_t NoLabel(const NetworkInput& input);

}  // namespace frugal
