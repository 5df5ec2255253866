#include <memory>

#include "sdk/core/error.h"
#include "sdk/metrics/built_in_metrics.h"
#include "sdk/metrics/label_metric.h"

namespace frugal {
namespace {

// The share of rows in which fewer than k logits come before the label's: those that are larger,
// and equal ones of lower classes.
class TopK : public LabelMetric {
 public:
  TopK(std::string name, std::int64_t classes, std::int64_t k)
      : LabelMetric(std::move(name), classes), k_(k) {
    if (k >= 1 && k <= classes) return;
    throw ConfigError(
        {.where = "metric top_k",
         .required = "k is at least 1, and at most the " + std::to_string(classes) + " classes",
         .given = "it is " + std::to_string(k),
         .advice = "write the name with a number, as in top_5"});
  }

 private:
  void AddRow(std::span<const float> logits, std::size_t label) override {
    if (HoldsNan(logits)) return;
    const float own = logits[label];
    std::int64_t before = 0;
    for (std::size_t j = 0; j < logits.size(); ++j) {
      if (logits[j] > own || (logits[j] == own && j < label)) ++before;
    }
    if (before < k_) ++hits_;
  }
  double ValueOfRows() const override {
    return static_cast<double>(hits_) / static_cast<double>(rows());
  }
  void Clear() override { hits_ = 0; }

  std::int64_t k_;
  std::int64_t hits_ = 0;
};

}  // namespace

std::vector<MetricRow> AccuracyRows() {
  return {
      {.name = "accuracy",
       .doc = "share of rows whose largest logit is the label's; the first of equal ones is the "
              "largest, and a row with a NaN is wrong",
       .make =
           [](const MetricSetup& setup) {
             return std::make_unique<TopK>("accuracy", setup.classes, 1);
           }},
      {.name = "top_k",
       .doc = "share of rows whose label is among the k largest logits, written with a number "
              "as in top_5; of equal ones the first are larger, and a row with a NaN is wrong",
       .make = [](const MetricSetup& setup) {
         return std::make_unique<TopK>("top_k", setup.classes, setup.k);
       }}};
}

}  // namespace frugal
