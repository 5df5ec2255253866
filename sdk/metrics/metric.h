#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace frugal {

// One batch as a metric sees it: rows of `columns` numbers, the logits of as many classes or
// values.
struct MetricBatch {
  std::span<const float> outputs = {};  // [rows, columns]
  std::int64_t columns = 0;
  std::span<const std::int64_t> labels = {};  // [rows]; of texts there is one for every position
  std::span<const float> targets = {};        // [rows, columns]
  std::int64_t ignore_index = -100;           // rows with this label are left out
  double loss = 0;                            // mean over the batch
  std::int64_t count = 0;                     // samples in the batch
};

// A number over all rows since the last Reset. Rows are counted, or summed in double precision in
// the order in which they come, so how they are split into batches changes no bit of it. Threads:
// one uses a metric at a time; each model makes its own.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual void Add(const MetricBatch& batch) = 0;
  // NaN as long as no row was counted.
  virtual double Value() const = 0;
  virtual void Reset() = 0;
  // Bytes that it holds at the moment, beside itself.
  virtual std::int64_t HeldBytes() const { return 0; }
  // Rows of the label's class, columns of the predicted one; empty where the metric has no matrix.
  virtual std::vector<std::vector<std::int64_t>> Matrix() const { return {}; }
};

}  // namespace frugal
