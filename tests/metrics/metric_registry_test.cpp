#include "sdk/metrics/metric_registry.h"

#include <algorithm>
#include <cmath>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/metrics/metric_data.h"

namespace frugal {
namespace {

using testing::Classified;
using testing::ValueOf;

// Adds nothing up but the losses of batches.
class MeanLoss : public Metric {
 public:
  void Add(const MetricBatch& batch) override {
    sum_ += batch.loss * static_cast<double>(batch.count);
    count_ += batch.count;
  }
  double Value() const override { return count_ == 0 ? NAN : sum_ / static_cast<double>(count_); }
  void Reset() override { *this = {}; }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

TEST_CASE("every metric has a name, a description and a function that makes it", "[metrics]") {
  const std::vector<std::string> names = Metrics().Names();
  for (const std::string_view name : {"accuracy", "top_k", "precision", "recall", "f1", "auroc",
                                      "confusion_matrix", "mae", "rmse", "r2", "perplexity"}) {
    INFO(name);
    CHECK(std::ranges::count(names, name) == 1);
    const MetricRow& row = FindMetric(name);
    CHECK(row.name == name);
    CHECK_FALSE(row.doc.empty());
    const bool of_targets = name == "mae" || name == "rmse" || name == "r2";
    CHECK(row.of_labels != of_targets);
    CHECK(row.larger_is_better == (name != "mae" && name != "rmse" && name != "perplexity"));
    const auto metric = MakeMetric(name, {.classes = 3, .k = 2});
    CHECK(std::isnan(metric->Value()));
    metric->Add({});
    CHECK(std::isnan(metric->Value()));
    CHECK(metric->Matrix().empty() == (name != "confusion_matrix"));
  }
}

TEST_CASE("a number at the end of a name is its k", "[metrics]") {
  CHECK(&FindMetric("top_5") == &FindMetric("top_k"));
  const auto data = Classified(3, {3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1}, {0, 1, 1, 2});
  CHECK(ValueOf("top_1", data) == 0.25);
  CHECK(ValueOf("top_2", data) == 0.75);
  CHECK(ValueOf("top_3", data) == 1);
  const auto metric = MakeMetric("top_k", {.classes = 3, .k = 2});
  metric->Add(data.All());
  CHECK(metric->Value() == 0.75);

  for (const std::string_view name : {"top_0", "top_4", "top_99999999999999999999", "top_k"}) {
    INFO(name);
    CHECK_THROWS_AS(MakeMetric(name, {.classes = 3}), ConfigError);
  }
  CHECK_THROWS_WITH(MakeMetric("top_4", {.classes = 3}),
                    Catch::Contains("at most the 3 classes; it is 4"));
  for (const std::string_view name : {"top_05", "top_", "top_-1", "top_5x", "top5", "accuracy_5"}) {
    INFO(name);
    CHECK_THROWS_WITH(MakeMetric(name, {.classes = 9}), Catch::Contains("is none"));
  }
}

TEST_CASE("an unknown metric is an error that names the known ones", "[metrics]") {
  CHECK_THROWS_AS(FindMetric("acuracy"), ConfigError);
  CHECK_THROWS_WITH(MakeMetric("acuracy", {.classes = 2}),
                    Catch::Contains("accuracy, top_k, precision, recall, f1, auroc, "
                                    "confusion_matrix, mae, rmse, r2, perplexity") &&
                        Catch::Contains("\"acuracy\" is none"));
  CHECK_THROWS_AS(MakeMetric("", {.classes = 2}), ConfigError);
}

TEST_CASE("a metric says how many classes it takes", "[metrics]") {
  CHECK_THROWS_AS(MakeMetric("accuracy", {}), ConfigError);
  CHECK_THROWS_AS(MakeMetric("auroc", {.classes = 1}), ConfigError);
  CHECK_THROWS_WITH(MakeMetric("confusion_matrix", {.classes = 50257}),
                    Catch::Contains("10000 classes"));
  CHECK_NOTHROW(MakeMetric("f1", {.classes = 50257}));
  CHECK_NOTHROW(MakeMetric("mae", {}));
}

TEST_CASE("programs add metrics of their own", "[metrics]") {
  Metrics().Add({.name = "mean_loss",
                 .doc = "mean of the loss",
                 .larger_is_better = false,
                 .make = [](const MetricSetup&) { return std::make_unique<MeanLoss>(); }});
  const auto metric = MakeMetric("mean_loss", {});
  CHECK(std::isnan(metric->Value()));
  metric->Add({.loss = 2, .count = 3});
  metric->Add({.loss = 6, .count = 1});
  CHECK(metric->Value() == 3);
  CHECK(metric->HeldBytes() == 0);
  CHECK(metric->Matrix().empty());
  metric->Reset();
  CHECK(std::isnan(metric->Value()));
}

TEST_CASE("the k in the name of an added metric is read as that of ours", "[metrics]") {
  static std::int64_t given = 0;  // the row stays for as long as the program
  Metrics().Add({.name = "loss_at_k", .make = [](const MetricSetup& setup) {
                   given = setup.k;
                   return std::make_unique<MeanLoss>();
                 }});
  MakeMetric("loss_at_10", {.classes = 20});
  CHECK(given == 10);
  MakeMetric("loss_at_k", {.classes = 20, .k = 3});
  CHECK(given == 3);
}

TEST_CASE("a metric's name is taken once", "[metrics]") {
  const MetricRow again{.name = "accuracy",
                        .make = [](const MetricSetup&) { return std::make_unique<MeanLoss>(); }};
  CHECK_THROWS_AS(Metrics().Add(again), UsageError);
  CHECK_THROWS_WITH(Metrics().Add(again), Catch::Contains("\"accuracy\" already"));
  CHECK_THROWS_AS(Metrics().Add({.name = ""}), UsageError);
  CHECK(ValueOf("accuracy", Classified(2, {1, 0}, {0})) == 1);
}

TEST_CASE("a row of a metric has to make something", "[metrics]") {
  Metrics().Add({.name = "made_without_function"});
  CHECK_THROWS_WITH(MakeMetric("made_without_function", {}), Catch::Contains("the row has none"));
  Metrics().Add({.name = "made_null", .make = [](const MetricSetup&) { return nullptr; }});
  CHECK_THROWS_WITH(MakeMetric("made_null", {}), Catch::Contains("it returned none"));
}

}  // namespace
}  // namespace frugal
