#pragma once

#include <span>

#include "sdk/core/bfloat16.h"
#include "sdk/core/random.h"
#include "sdk/data/data_source.h"

namespace frugal {

// Random tokens or images, with random labels or real targets, and what else the network takes.
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
  static void FillReal(std::uint64_t seed, const Tensor& tensor) {
    if (tensor.dtype() == DType::kBF16) return FillValues(seed, tensor.values<BFloat16>());
    FillValues(seed, tensor.values<float>());
  }

  template <class T>
  static void FillValues(std::uint64_t seed, std::span<T> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<T>(static_cast<float>(UniformAt(seed, i) - 0.5));
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
};

}  // namespace frugal
