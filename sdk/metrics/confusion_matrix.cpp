#include <memory>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/metrics/built_in_metrics.h"
#include "sdk/metrics/label_metric.h"

namespace frugal {
namespace {

constexpr std::int64_t kMostClasses = 10'000;  // 800 MB

class ConfusionMatrix : public LabelMetric {
 public:
  explicit ConfusionMatrix(std::int64_t classes) : LabelMetric("confusion_matrix", classes) {
    if (classes > kMostClasses) {
      throw ConfigError({.where = "metric confusion_matrix",
                         .required = "there are at most " + std::to_string(kMostClasses) +
                                     " classes, since it counts every pair of them",
                         .given = "there are " + std::to_string(classes),
                         .advice = "use precision and recall, which count single classes"});
    }
    counts_.assign(this->classes() * this->classes(), 0);
  }

  std::int64_t HeldBytes() const override {
    return static_cast<std::int64_t>(counts_.capacity() * sizeof(std::int64_t));
  }
  std::vector<std::vector<std::int64_t>> Matrix() const override {
    std::vector<std::vector<std::int64_t>> matrix;
    const auto size = static_cast<std::ptrdiff_t>(classes());
    for (auto row = counts_.begin(); row != counts_.end(); row += size) {
      matrix.emplace_back(row, row + size);
    }
    return matrix;
  }

 private:
  void AddRow(std::span<const float> logits, std::size_t label) override {
    const std::int64_t predicted = PredictedClass(logits);
    if (predicted == kNoClass) return;
    ++counts_[label * classes() + static_cast<std::size_t>(predicted)];
  }
  double ValueOfRows() const override {
    std::int64_t hits = 0;
    for (std::size_t i = 0; i < counts_.size(); i += classes() + 1) hits += counts_[i];
    return static_cast<double>(hits) / static_cast<double>(rows());
  }
  void Clear() override { counts_.assign(classes() * classes(), 0); }

  std::vector<std::int64_t> counts_;  // [label, prediction]
};

}  // namespace

std::vector<MetricRow> ConfusionMatrixRows() {
  return {{.name = "confusion_matrix",
           .doc = "counts of rows by label and prediction; its value is the accuracy. A row with a "
                  "NaN predicts no class, so it is not in the matrix, but is wrong in the value",
           .make = [](const MetricSetup& setup) {
             return std::make_unique<ConfusionMatrix>(setup.classes);
           }}};
}

}  // namespace frugal
