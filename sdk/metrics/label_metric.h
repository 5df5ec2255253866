#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sdk/metrics/metric.h"

namespace frugal {

// A metric of rows of logits with a label each, which are counted one by one. Rows whose label is
// the ignore_index are left out.
class LabelMetric : public Metric {
 public:
  // Throws ConfigError below `fewest` classes.
  LabelMetric(std::string name, std::int64_t classes, std::int64_t fewest = 1);

  // Throws ShapeError where a batch is no rows of `classes` logits with a label each, and DataError
  // on the first label outside [0, classes); then nothing of the batch was counted.
  void Add(const MetricBatch& batch) final;
  double Value() const final;
  void Reset() final;

 protected:
  const std::string& name() const { return name_; }
  std::size_t classes() const { return static_cast<std::size_t>(classes_); }
  std::int64_t rows() const { return rows_; }  // those counted

 private:
  virtual void AddRow(std::span<const float> logits, std::size_t label) = 0;
  virtual double ValueOfRows() const = 0;  // there is at least one row
  virtual void Clear() = 0;

  void Check(const MetricBatch& batch) const;

  std::string name_;
  std::int64_t classes_;
  std::int64_t rows_ = 0;
};

inline constexpr std::int64_t kNoClass = -1;
// Returns the first of the largest logits, as LossKernels::CountCorrect does; kNoClass where one is
// NaN.
std::int64_t PredictedClass(std::span<const float> logits);
bool HoldsNan(std::span<const float> logits);

}  // namespace frugal
