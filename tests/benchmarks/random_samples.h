#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sdk/core/bfloat16.h"
#include "sdk/core/random.h"
#include "sdk/data/data_source.h"

namespace frugal {

// Random tokens or images, with random labels or real targets, and what else the network takes.
// Real numbers are made once and then copied, so that a step's time is not the generator's.
class RandomSamples final : public DataSource {
 public:
  RandomSamples(const DataLayout& layout, std::int64_t count) : layout_(layout), count_(count) {}

  std::int64_t count() const override { return count_; }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    const auto seed = static_cast<std::uint64_t>(samples.front());
    if (layout_.vocabulary > 0) {
      FillLabels(seed, layout_.vocabulary, inputs.values<std::int64_t>());
    } else {
      FillReal(seed, inputs);
    }
    if (layout_.classes == 0) return FillReal(seed + 1, targets);
    FillLabels(seed + 1, layout_.classes, targets.values<std::int64_t>());
  }

  void FillConditions(std::span<const std::int64_t> samples,
                      std::span<const Tensor> conditions) const override {
    const auto seed = static_cast<std::uint64_t>(samples.front());
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      const NetworkInput& input = layout_.conditions[i];
      if (conditions[i].dtype() == DType::kI64) {
        FillLabels(seed + i, input.classes, conditions[i].values<std::int64_t>());
      } else if (input.role == InputRole::kTime) {
        FillTimes(seed + i, input.time_range, conditions[i].values<float>());
      } else {
        FillReal(seed + i, conditions[i]);
      }
    }
  }

 private:
  void FillReal(std::uint64_t seed, const Tensor& tensor) const {
    std::vector<float>& made = made_[{seed, tensor.size()}];
    for (std::size_t i = made.size(); i < static_cast<std::size_t>(tensor.size()); ++i) {
      made.push_back(static_cast<float>(UniformAt(seed, i) - 0.5));
    }
    if (tensor.dtype() == DType::kBF16) {
      std::ranges::transform(made, tensor.values<BFloat16>().begin(),
                             [](float value) { return static_cast<BFloat16>(value); });
    } else {
      std::ranges::copy(made, tensor.values<float>().begin());
    }
  }

  static void FillTimes(std::uint64_t seed, double range, std::span<float> times) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      times[i] = static_cast<float>(UniformAt(seed, i) * range);
    }
  }

  static void FillLabels(std::uint64_t seed, std::int64_t classes, std::span<std::int64_t> labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::int64_t>(UniformAt(seed, i) * static_cast<double>(classes));
    }
  }

  DataLayout layout_;
  std::int64_t count_;
  mutable std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<float>> made_;
};

}  // namespace frugal
