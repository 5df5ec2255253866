#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sdk/core/random.h"
#include "sdk/metrics/metric_registry.h"

namespace frugal::testing {

constexpr std::int64_t kIgnored = -100;

// Rows of numbers with what is wanted of them, whole or in parts.
struct MetricData {
  std::int64_t columns = 0;
  std::vector<float> outputs;
  std::vector<std::int64_t> labels;  // or
  std::vector<float> targets;

  std::size_t rows() const { return outputs.size() / static_cast<std::size_t>(columns); }

  MetricBatch Part(std::size_t begin, std::size_t count) const {
    const auto width = static_cast<std::size_t>(columns);
    const auto numbers = [&](const std::vector<float>& all) {
      return all.empty() ? std::span<const float>()
                         : std::span(all).subspan(begin * width, count * width);
    };
    MetricBatch batch{.outputs = numbers(outputs), .columns = columns, .targets = numbers(targets)};
    if (!labels.empty()) batch.labels = std::span(labels).subspan(begin, count);
    batch.count = static_cast<std::int64_t>(count);
    return batch;
  }
  MetricBatch All() const {
    return {.outputs = outputs,
            .columns = columns,
            .labels = labels,
            .targets = targets,
            .count = static_cast<std::int64_t>(rows())};
  }

  std::span<const float> Row(std::size_t row) const { return Part(row, 1).outputs; }
};

inline MetricData Classified(std::int64_t classes, std::vector<float> logits,
                             std::vector<std::int64_t> labels) {
  return {
      .columns = classes, .outputs = std::move(logits), .labels = std::move(labels), .targets = {}};
}

// Logits that know a little of their labels. On a coarse grid there are many ties.
inline MetricData RandomLabelled(std::uint64_t seed, std::int64_t rows, std::int64_t classes,
                                 bool coarse = false, double ignored = 0) {
  MetricData data{.columns = classes, .outputs = {}, .labels = {}, .targets = {}};
  const std::uint64_t key = StreamKey(seed, "labels");
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<std::uint64_t>(row);
    const auto label = static_cast<std::int64_t>(UniformAt(key, at) * static_cast<double>(classes));
    for (std::int64_t j = 0; j < classes; ++j) {
      const auto place = static_cast<std::uint64_t>(row * classes + j);
      double logit = 2 * NormalAt(StreamKey(seed, "logits"), place) + (j == label ? 1.5 : 0);
      if (coarse) logit = std::round(logit);
      data.outputs.push_back(static_cast<float>(logit));
    }
    const bool is_ignored = UniformAt(StreamKey(seed, "ignored"), at) < ignored;
    data.labels.push_back(is_ignored ? kIgnored : label);
  }
  return data;
}

inline MetricData RandomTargets(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  MetricData data{.columns = columns, .outputs = {}, .labels = {}, .targets = {}};
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rows * columns); ++i) {
    const double target = 3 * NormalAt(StreamKey(seed, "targets"), i) + 20;
    data.targets.push_back(static_cast<float>(target));
    data.outputs.push_back(static_cast<float>(target + NormalAt(StreamKey(seed, "errors"), i)));
  }
  return data;
}

inline std::unique_ptr<Metric> Filled(std::string_view name, const MetricData& data) {
  auto metric = MakeMetric(name, {.classes = data.columns});
  metric->Add(data.All());
  return metric;
}

inline double ValueOf(std::string_view name, const MetricData& data) {
  return Filled(name, data)->Value();
}

}  // namespace frugal::testing
