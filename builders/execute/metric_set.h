#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builders/execute/training_result.h"
#include "builders/setup/training_setup.h"
#include "sdk/metrics/metric_registry.h"

namespace frugal {

// The metrics of an evaluation (training.metrics), over all of its batches.
class MetricSet {
 public:
  // Throws what MakeMetrics does.
  explicit MetricSet(const TrainingSetup& setup);

  // Takes what the network made of a batch, f32, f64 or bf16, and what it should have made.
  void Add(const Tensor& outputs, const Tensor& targets, double loss, std::int64_t samples);
  void Reset();
  // Values in the order of training.metrics; of a confusion matrix the share on its diagonal.
  std::vector<MetricValue> Values() const;

 private:
  struct Entry {
    std::string name;
    std::unique_ptr<Metric> metric;
  };
  std::vector<Entry> entries_;
  std::int64_t ignore_index_;
};

}  // namespace frugal
