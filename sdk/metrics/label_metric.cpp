#include "sdk/metrics/label_metric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sdk/core/error.h"

namespace frugal {

LabelMetric::LabelMetric(std::string name, std::int64_t classes, std::int64_t fewest)
    : name_(std::move(name)), classes_(classes) {
  if (classes >= fewest) return;
  throw ConfigError({.where = "metric " + name_,
                     .required = "there are at least " + std::to_string(fewest) + " classes",
                     .given = "there are " + std::to_string(classes),
                     .advice = "use it for classification, or a metric of targets for regression"});
}

void LabelMetric::Check(const MetricBatch& batch) const {
  const std::size_t rows = batch.labels.size();
  const bool is_empty = rows == 0 && batch.outputs.empty();
  if (!is_empty && (batch.columns != classes_ || batch.outputs.size() != rows * classes())) {
    throw ShapeError({.where = "metric " + name_,
                      .required = "every label comes with a row of " + std::to_string(classes_) +
                                  " logits, one for each class",
                      .given = std::to_string(rows) + " labels came with " +
                               std::to_string(batch.outputs.size()) + " numbers in rows of " +
                               std::to_string(batch.columns),
                      .advice = "use a network whose outputs are the classes of the data"});
  }
  const auto wrong = std::ranges::find_if(batch.labels, [&](std::int64_t label) {
    return label != batch.ignore_index && (label < 0 || label >= classes_);
  });
  if (wrong == batch.labels.end()) return;
  throw DataError({.where = "metric " + name_,
                   .required = "labels lie in [0, " + std::to_string(classes_) + "), or are " +
                               std::to_string(batch.ignore_index) + ", which leaves a row out",
                   .given = "the label of row " + std::to_string(wrong - batch.labels.begin()) +
                            " of the batch is " + std::to_string(*wrong),
                   .advice = "correct the data, or give the network more classes"});
}

void LabelMetric::Add(const MetricBatch& batch) {
  Check(batch);
  for (std::size_t row = 0; row < batch.labels.size(); ++row) {
    if (batch.labels[row] == batch.ignore_index) continue;
    AddRow(batch.outputs.subspan(row * classes(), classes()),
           static_cast<std::size_t>(batch.labels[row]));
    ++rows_;
  }
}

double LabelMetric::Value() const {
  return rows_ == 0 ? std::numeric_limits<double>::quiet_NaN() : ValueOfRows();
}

void LabelMetric::Reset() {
  rows_ = 0;
  Clear();
}

bool HoldsNan(std::span<const float> logits) {
  return std::ranges::any_of(logits, [](float logit) { return std::isnan(logit); });
}

std::int64_t PredictedClass(std::span<const float> logits) {
  if (HoldsNan(logits)) return kNoClass;
  return std::ranges::max_element(logits) - logits.begin();
}

}  // namespace frugal
