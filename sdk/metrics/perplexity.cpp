#include <cmath>
#include <memory>

#include "sdk/metrics/built_in_metrics.h"
#include "sdk/metrics/label_metric.h"

namespace frugal {
namespace {

class Perplexity : public LabelMetric {
 public:
  explicit Perplexity(std::int64_t classes) : LabelMetric("perplexity", classes) {}

 private:
  // Adds log(sum of exp(logit)) - the label's logit, with no exponential above 1.
  void AddRow(std::span<const float> logits, std::size_t label) override {
    const std::int64_t predicted = PredictedClass(logits);
    if (predicted == kNoClass) {
      cross_entropy_ = std::nan("");
      return;
    }
    const auto largest = static_cast<std::size_t>(predicted);
    const double first = logits[largest];
    double others = 0;
    for (std::size_t j = 0; j < logits.size(); ++j) {
      if (j != largest) others += std::exp(logits[j] - first);
    }
    cross_entropy_ += first - logits[label] + std::log1p(others);
  }
  double ValueOfRows() const override {
    return std::exp(cross_entropy_ / static_cast<double>(rows()));
  }
  void Clear() override { cross_entropy_ = 0; }

  double cross_entropy_ = 0;
};

}  // namespace

std::vector<MetricRow> PerplexityRows() {
  return {{.name = "perplexity",
           .doc = "exp of the mean cross entropy of the labels in nats, without label smoothing; "
                  "NaN where a logit is",
           .larger_is_better = false,
           .make = [](const MetricSetup& setup) {
             return std::make_unique<Perplexity>(setup.classes);
           }}};
}

}  // namespace frugal
