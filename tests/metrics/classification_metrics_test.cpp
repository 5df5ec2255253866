#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/metrics/metric_data.h"

namespace frugal {
namespace {

using testing::Classified;
using testing::Filled;
using testing::kIgnored;
using testing::MetricData;
using testing::RandomLabelled;
using testing::ValueOf;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Logits that predict these classes.
MetricData Predicting(std::int64_t classes, const std::vector<std::int64_t>& predictions,
                      std::vector<std::int64_t> labels) {
  std::vector<float> logits(predictions.size() * static_cast<std::size_t>(classes));
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    logits[row * static_cast<std::size_t>(classes) + static_cast<std::size_t>(predictions[row])] =
        1;
  }
  return Classified(classes, std::move(logits), std::move(labels));
}

// Returns the classes of a row from the largest logit to the smallest, equal ones in their order.
std::vector<std::int64_t> Ranked(std::span<const float> logits) {
  std::vector<std::int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return order;
}

struct Scores {
  double precision = 0, recall = 0, f1 = 0;
};
// Counts anew for every class, by the definitions.
Scores MacroByDefinition(const MetricData& data) {
  std::set<std::int64_t> present;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    if (data.labels[row] == kIgnored) continue;
    present.insert({data.labels[row], Ranked(data.Row(row)).front()});
  }
  if (data.columns == 2) present = {1};
  Scores mean;
  for (const std::int64_t one : present) {
    double right = 0, wrong = 0, missed = 0;
    for (std::size_t row = 0; row < data.rows(); ++row) {
      if (data.labels[row] == kIgnored) continue;
      const bool is_one = data.labels[row] == one, says_one = Ranked(data.Row(row)).front() == one;
      right += is_one && says_one ? 1 : 0;
      wrong += !is_one && says_one ? 1 : 0;
      missed += is_one && !says_one ? 1 : 0;
    }
    const double precision = right > 0 ? right / (right + wrong) : 0;
    const double recall = right > 0 ? right / (right + missed) : 0;
    const auto classes = static_cast<double>(present.size());
    mean.precision += precision / classes;
    mean.recall += recall / classes;
    if (right > 0) mean.f1 += 2 * precision * recall / (precision + recall) / classes;
  }
  return mean;
}

TEST_CASE("classification metrics of a few rows are as computed by hand", "[metrics]") {
  const MetricData data = Predicting(3, {0, 1, 1, 2, 2, 0}, {0, 1, 2, 2, 1, 0});
  CHECK(ValueOf("accuracy", data) == Approx(4.0 / 6));
  CHECK(ValueOf("precision", data) == Approx((1 + 0.5 + 0.5) / 3));
  CHECK(ValueOf("recall", data) == Approx((1 + 0.5 + 0.5) / 3));
  CHECK(ValueOf("f1", data) == Approx((1 + 0.5 + 0.5) / 3));
  const auto matrix = Filled("confusion_matrix", data);
  CHECK(matrix->Matrix() ==
        std::vector<std::vector<std::int64_t>>{{2, 0, 0}, {0, 1, 1}, {0, 1, 1}});
  CHECK(matrix->Value() == Approx(4.0 / 6));
}

TEST_CASE("scores of two classes are those of class 1", "[metrics]") {
  const MetricData data = Predicting(2, {1, 1, 1, 0, 0}, {1, 0, 0, 1, 0});
  CHECK(ValueOf("precision", data) == Approx(1.0 / 3));
  CHECK(ValueOf("recall", data) == Approx(0.5));
  CHECK(ValueOf("f1", data) == Approx(0.4));
  CHECK(Filled("confusion_matrix", data)->Matrix() ==
        std::vector<std::vector<std::int64_t>>{{1, 2}, {1, 1}});
  for (const std::string_view name : {"precision", "recall", "f1"}) {
    CHECK(ValueOf(name, Predicting(2, {0, 0}, {0, 0})) == 0);
    CHECK(ValueOf(name, Predicting(2, {1, 1}, {1, 1})) == 1);
  }
}

TEST_CASE("classes that are neither label nor prediction do not count", "[metrics]") {
  // scikit-learn 1.2.1: precision_score, recall_score, f1_score with average="macro".
  const MetricData data = Predicting(4, {0, 1, 2, 1}, {0, 0, 2, 2});
  CHECK(ValueOf("precision", data) == Approx(2.0 / 3));
  CHECK(ValueOf("recall", data) == Approx(1.0 / 3));
  CHECK(ValueOf("f1", data) == Approx(4.0 / 9));
}

TEST_CASE("one class is always right", "[metrics]") {
  const MetricData data = Classified(1, {5, -3}, {0, 0});
  for (const std::string_view name :
       {"accuracy", "top_1", "precision", "recall", "f1", "confusion_matrix", "perplexity"}) {
    INFO(name);
    CHECK(ValueOf(name, data) == 1);
  }
}

TEST_CASE("accuracy and top-k are those of sorted rows", "[metrics]") {
  for (const bool coarse : {false, true}) {
    const MetricData data = RandomLabelled(5, 400, 6, coarse, 0.1);
    for (std::int64_t k = 1; k <= 6; ++k) {
      double hits = 0, counted = 0;
      for (std::size_t row = 0; row < data.rows(); ++row) {
        if (data.labels[row] == kIgnored) continue;
        const auto order = Ranked(data.Row(row));
        hits += std::count(order.begin(), order.begin() + k, data.labels[row]) > 0 ? 1 : 0;
        counted += 1;
      }
      CHECK(ValueOf("top_" + std::to_string(k), data) == hits / counted);
      if (k == 1) CHECK(ValueOf("accuracy", data) == hits / counted);
      if (k == 6) CHECK(hits == counted);
    }
  }
}

TEST_CASE("precision, recall and F1 are those of their definitions", "[metrics]") {
  for (const std::int64_t classes : {2, 3, 8}) {
    for (const std::int64_t rows : {5, 300}) {
      const MetricData data = RandomLabelled(6, rows, classes, true, 0.1);
      const Scores expected = MacroByDefinition(data);
      CHECK(ValueOf("precision", data) == Approx(expected.precision).epsilon(1e-13));
      CHECK(ValueOf("recall", data) == Approx(expected.recall).epsilon(1e-13));
      CHECK(ValueOf("f1", data) == Approx(expected.f1).epsilon(1e-13));
    }
  }
}

TEST_CASE("the first of equal logits is predicted", "[metrics]") {
  CHECK(ValueOf("accuracy", Classified(3, {1, 1, 1, 1, 1, 1}, {0, 1})) == 0.5);
  CHECK(ValueOf("top_2", Classified(3, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2})) == 2.0 / 3);
  CHECK(Filled("confusion_matrix", Classified(2, {0, 0, 0, -0.0F}, {0, 1}))->Matrix() ==
        std::vector<std::vector<std::int64_t>>{{1, 0}, {1, 0}});
}

TEST_CASE("a row with a NaN is wrong and predicts nothing", "[metrics]") {
  const MetricData data = Classified(2, {kNan, 1, 0, 1, 1, kNan}, {1, 1, 0});
  CHECK(ValueOf("accuracy", data) == 1.0 / 3);
  CHECK(ValueOf("top_2", data) == 1.0 / 3);
  CHECK(ValueOf("precision", data) == 1);
  CHECK(ValueOf("recall", data) == 0.5);
  CHECK(ValueOf("f1", data) == Approx(2.0 / 3));
  CHECK(std::isnan(ValueOf("perplexity", data)));
  const auto matrix = Filled("confusion_matrix", data);
  CHECK(matrix->Matrix() == std::vector<std::vector<std::int64_t>>{{0, 0}, {0, 1}});
  CHECK(matrix->Value() == 1.0 / 3);
}

TEST_CASE("perplexity is exp of the mean cross entropy", "[metrics]") {
  CHECK(ValueOf("perplexity", Classified(4, std::vector<float>(8, 3), {0, 3})) == Approx(4));
  const MetricData data = RandomLabelled(9, 300, 7, false, 0.1);
  long double sum = 0, counted = 0;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    if (data.labels[row] == kIgnored) continue;
    long double whole = 0;
    for (const float logit : data.Row(row)) whole += std::exp(static_cast<long double>(logit));
    const auto label = static_cast<std::size_t>(data.labels[row]);
    sum += std::log(whole) - data.Row(row)[label];
    counted += 1;
  }
  CHECK(ValueOf("perplexity", data) ==
        Approx(static_cast<double>(std::exp(sum / counted))).epsilon(1e-13));
}

TEST_CASE("perplexity of huge logits is stable", "[metrics]") {
  CHECK(ValueOf("perplexity", Classified(2, {1e30F, -1e30F}, {0})) == 1);
  CHECK(ValueOf("perplexity", Classified(2, {1e4F, 1e4F}, {1})) == Approx(2));
  CHECK(ValueOf("perplexity", Classified(2, {-1e4F, -1e4F - 1}, {1})) == Approx(1 + std::exp(1)));
  CHECK(std::isinf(ValueOf("perplexity", Classified(2, {1e4F, 0}, {1}))));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(ValueOf("perplexity", Classified(3, {1, 1, -kInfinity}, {1})) == Approx(2));
}

TEST_CASE("a label or a shape that does not fit is an error, and adds nothing", "[metrics]") {
  for (const MetricRow* row : Metrics().Rows()) {
    const std::set<std::string> ours = {"accuracy", "top_k", "precision",        "recall",
                                        "f1",       "auroc", "confusion_matrix", "perplexity"};
    if (!ours.contains(row->name)) continue;
    INFO(row->name);
    const auto metric = row->make({.classes = 3, .k = 1});
    for (const std::int64_t wrong : {std::int64_t{3}, std::int64_t{-1}}) {
      const auto data = Classified(3, std::vector<float>(9), {0, kIgnored, wrong});
      CHECK_THROWS_AS(metric->Add(data.All()), DataError);
      CHECK_THROWS_WITH(metric->Add(data.All()),
                        Catch::Contains("metric " + row->name) &&
                            Catch::Contains("row 2 of the batch is " + std::to_string(wrong)));
    }
    CHECK_THROWS_AS(metric->Add(Classified(2, {1, 2}, {0}).All()), ShapeError);
    CHECK_THROWS_AS(metric->Add(Classified(3, {1, 2, 3}, {0, 1}).All()), ShapeError);
    CHECK_THROWS_AS(metric->Add(Classified(3, {1, 2, 3}, {}).All()), ShapeError);
    CHECK(std::isnan(metric->Value()));
  }
}

TEST_CASE("ignored rows leave no trace", "[metrics]") {
  MetricData data = Classified(3, {0, 1, 0, kNan, 0, 0, 1, 0, 0}, {1, 2, 0});
  MetricBatch batch = data.All();
  batch.ignore_index = 2;
  for (const std::string_view name : {"accuracy", "precision", "recall", "f1"}) {
    INFO(name);
    const auto metric = MakeMetric(name, {.classes = 3});
    metric->Add(batch);
    CHECK(metric->Value() == 1);
  }
  batch.labels = std::span(data.labels).subspan(1, 1);
  batch.outputs = data.Row(1);
  for (const std::string_view name :
       {"accuracy", "f1", "auroc", "confusion_matrix", "perplexity"}) {
    INFO(name);
    const auto metric = MakeMetric(name, {.classes = 3});
    metric->Add(batch);
    CHECK(std::isnan(metric->Value()));
  }
}

}  // namespace
}  // namespace frugal
