#include <memory>
#include <utility>

#include "sdk/metrics/built_in_metrics.h"
#include "sdk/metrics/label_metric.h"

namespace frugal {
namespace {

struct ClassCount {
  std::int64_t hits = 0;       // rows with this label and this prediction
  std::int64_t labelled = 0;   // rows with this label
  std::int64_t predicted = 0;  // rows with this prediction
};

// As scikit-learn has it with zero_division=0.
double Share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
double Precision(const ClassCount& count) { return Share(count.hits, count.predicted); }
double Recall(const ClassCount& count) { return Share(count.hits, count.labelled); }
double F1(const ClassCount& count) {
  return Share(2 * count.hits, count.labelled + count.predicted);
}

// A score of each class, as a mean over the classes that are a label or a prediction of some row.
class MacroScore : public LabelMetric {
 public:
  using Score = double (*)(const ClassCount&);

  MacroScore(std::string name, std::int64_t classes, Score score)
      : LabelMetric(std::move(name), classes), score_(score), counts_(this->classes()) {}

  std::int64_t HeldBytes() const override {
    return static_cast<std::int64_t>(counts_.capacity() * sizeof(ClassCount));
  }

 private:
  void AddRow(std::span<const float> logits, std::size_t label) override {
    ++counts_[label].labelled;
    const std::int64_t predicted = PredictedClass(logits);
    if (predicted == kNoClass) return;
    ++counts_[static_cast<std::size_t>(predicted)].predicted;
    if (std::cmp_equal(predicted, label)) ++counts_[label].hits;
  }
  double ValueOfRows() const override {
    if (counts_.size() == 2) return score_(counts_[1]);
    double sum = 0;
    std::int64_t present = 0;
    for (const ClassCount& count : counts_) {
      if (count.labelled + count.predicted == 0) continue;
      sum += score_(count);
      ++present;
    }
    return sum / static_cast<double>(present);
  }
  void Clear() override { counts_.assign(classes(), {}); }

  Score score_;
  std::vector<ClassCount> counts_;
};

MetricRow RowOf(const std::string& name, const std::string& doc, MacroScore::Score score) {
  return {.name = name,
          .doc = doc +
                 ": of class 1 where there are two, otherwise the mean over the classes that "
                 "labels or predictions name (scikit-learn's binary and macro averages, with "
                 "zero_division=0); a row with a NaN predicts no class",
          .make = [=](const MetricSetup& setup) {
            return std::make_unique<MacroScore>(name, setup.classes, score);
          }};
}

}  // namespace

std::vector<MetricRow> PrecisionRecallRows() {
  return {RowOf("precision", "share of a class's predictions that are right", Precision),
          RowOf("recall", "share of a class's rows that are predicted", Recall),
          RowOf("f1", "harmonic mean of precision and recall", F1)};
}

}  // namespace frugal
