#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "sdk/metrics/built_in_metrics.h"
#include "sdk/metrics/label_metric.h"

namespace frugal {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One row's part in the log-odds of its classes: log(p / (1 - p)) of their softmax probabilities,
// which has the order of p and keeps it where p would round to 0 or 1. Rows with the same logits in
// another order, or shifted, get the same bits, so that equal probabilities are equal here.
struct RowOdds {
  double first = kNan;       // the largest logit
  double of_largest = kNan;  // log-odds of a class that has it
  double others = kNan;      // exp(logit - first), summed over all classes but one that has it
};

// `sorted` is for the logits in descending order.
RowOdds OddsOf(std::span<const float> logits, std::vector<float>& sorted) {
  if (HoldsNan(logits)) return {};
  sorted.assign(logits.begin(), logits.end());
  std::ranges::sort(sorted, std::greater<>());
  const double first = sorted[0], second = sorted[1];
  RowOdds odds{.first = first, .of_largest = first - second, .others = 0};
  if (std::isinf(second) && second < 0) return odds;
  double below_second = 0;
  for (const double logit : std::span(sorted).subspan(1)) {
    odds.others += std::exp(logit - first);
    below_second += std::exp(logit - second);
  }
  odds.of_largest -= std::log(below_second);
  return odds;
}

double LogOdds(double logit, const RowOdds& odds) {
  if (logit == odds.first) return odds.of_largest;
  return (logit - odds.first) - std::log1p(odds.others - std::exp(logit - odds.first));
}

// The share of pairs of a positive and a negative score in which the positive one is larger, where
// equal ones count half (Mann & Whitney, 1947). Sorts both.
double ShareOfPairs(std::vector<double>& positives, std::vector<double>& negatives) {
  if (positives.empty() || negatives.empty()) return kNan;
  std::ranges::sort(positives);
  std::ranges::sort(negatives);
  std::size_t below = 0, up_to = 0;
  std::int64_t halves = 0;
  for (const double score : positives) {
    while (below < negatives.size() && negatives[below] < score) ++below;
    while (up_to < negatives.size() && negatives[up_to] <= score) ++up_to;
    halves += static_cast<std::int64_t>(below + up_to);
  }
  return static_cast<double>(halves) /
         (2 * static_cast<double>(positives.size()) * static_cast<double>(negatives.size()));
}

class Auroc : public LabelMetric {
 public:
  static constexpr std::int64_t kFewestClasses = 2;

  explicit Auroc(std::int64_t classes) : LabelMetric("auroc", classes, kFewestClasses) {}

  std::int64_t HeldBytes() const override {
    return static_cast<std::int64_t>(logits_.capacity() * sizeof(float) +
                                     labels_.capacity() * sizeof(std::uint32_t));
  }

 private:
  void AddRow(std::span<const float> logits, std::size_t label) override {
    logits_.insert(logits_.end(), logits.begin(), logits.end());
    labels_.push_back(static_cast<std::uint32_t>(label));
  }
  double ValueOfRows() const override {
    std::vector<RowOdds> odds;
    odds.reserve(labels_.size());
    std::vector<float> sorted;
    for (std::size_t row = 0; row < labels_.size(); ++row) {
      odds.push_back(OddsOf(Logits(row), sorted));
    }
    if (classes() == kFewestClasses) return OfClass(1, odds);
    double sum = 0;
    for (std::size_t one = 0; one < classes(); ++one) sum += OfClass(one, odds);
    return sum / static_cast<double>(classes());
  }
  void Clear() override {
    logits_ = std::vector<float>();
    labels_ = std::vector<std::uint32_t>();  // {} would keep their memory
  }

  std::span<const float> Logits(std::size_t row) const {
    return std::span(logits_).subspan(row * classes(), classes());
  }
  double OfClass(std::size_t one, std::span<const RowOdds> odds) const {
    std::vector<double> positives, negatives;
    for (std::size_t row = 0; row < labels_.size(); ++row) {
      const double score = LogOdds(logits_[row * classes() + one], odds[row]);
      if (std::isnan(score)) return kNan;
      (labels_[row] == one ? positives : negatives).push_back(score);
    }
    return ShareOfPairs(positives, negatives);
  }

  std::vector<float> logits_;  // [rows, classes]
  std::vector<std::uint32_t> labels_;
};

}  // namespace

std::vector<MetricRow> AurocRows() {
  return {
      {.name = "auroc",
       .doc = "area under the ROC curve, exact: of class 1 where there are two, otherwise the "
              "mean of each class against the rest by softmax probabilities (scikit-learn's "
              "multi_class=\"ovr\"). NaN where a class has no rows or all of them, since then "
              "there are no pairs to compare, and where an output is NaN. It keeps all logits",
       .make = [](const MetricSetup& setup) { return std::make_unique<Auroc>(setup.classes); }}};
}

}  // namespace frugal
