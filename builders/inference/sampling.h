#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "builders/run/model.h"

namespace frugal {

struct SampleOptions {
  std::vector<std::int64_t> labels{};    // one sample for each, where the network takes labels
  std::int64_t count = 0;                // of samples, where it takes none
  std::optional<SamplerKind> sampler{};  // not given: as in [diffusion]; likewise the next two
  std::optional<std::int64_t> steps{};
  std::optional<double> guidance{};
  std::uint64_t seed = 0;
  std::function<void(std::int64_t step, std::int64_t steps)> progress{};  // after each step
};

// New samples [count, sample...] of a model that was trained by diffusion, in the values that it
// was trained on: pixels less [data] mean, divided by std. The same for the same seed. With
// guidance each step asks the network twice. Throws UsageError for a model without [diffusion],
// labels that it does not know, or conditions other than labels.
std::vector<float> DrawSamples(Model& model, const SampleOptions& options);

}  // namespace frugal
