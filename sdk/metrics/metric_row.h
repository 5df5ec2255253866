#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sdk/metrics/metric.h"

namespace frugal {

struct MetricSetup {
  std::int64_t classes = 0;  // as many as a row has logits; 0 for regression
  std::int64_t k = 0;        // 5 in "top_5"
};

// One kind of metric. Where its name ends in "_k", a number may stand for the k: "top_5" asks for
// "top_k" with k = 5.
struct MetricRow {
  std::string name;
  std::string doc = "";
  bool of_labels = true;  // reads labels; otherwise targets
  bool larger_is_better = true;
  std::function<std::unique_ptr<Metric>(const MetricSetup& setup)> make = nullptr;
};

}  // namespace frugal
