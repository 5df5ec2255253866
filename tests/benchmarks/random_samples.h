#pragma once

#include <span>

#include "sdk/core/random.h"
#include "sdk/data/data_source.h"

namespace frugal {

// Random tokens or images, with random labels.
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
      const auto images = inputs.values<float>();
      for (std::size_t i = 0; i < images.size(); ++i) {
        images[i] = static_cast<float>(UniformAt(seed, i) - 0.5);
      }
    }
    FillLabels(seed + 1, layout_.classes, targets.values<std::int64_t>());
  }

 private:
  static void FillLabels(std::uint64_t seed, std::int64_t classes, std::span<std::int64_t> labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::int64_t>(UniformAt(seed, i) * static_cast<double>(classes));
    }
  }

  DataLayout layout_;
  std::int64_t count_;
};

}  // namespace frugal
