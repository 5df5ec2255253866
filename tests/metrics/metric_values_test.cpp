#include <algorithm>
#include <bit>
#include <cmath>

#include "sdk/backend/backend.h"
#include "tests/catch.h"
#include "tests/metrics/metric_data.h"
#include "tests/support/tensors.h"

// Values that scikit-learn computes, and that they are the same however rows come in batches.
namespace frugal {
namespace {

using testing::kIgnored;
using testing::MetricData;
using testing::RandomLabelled;
using testing::RandomTargets;
using testing::ValueOf;

struct Expected {
  std::int64_t rows, classes;
  double accuracy, precision, recall, f1, auroc, perplexity;
};

// Plain arithmetic that Python repeats: j 13 sixteenths further in every row, 0.75 for the label.
MetricData Arithmetic(std::int64_t rows, std::int64_t classes) {
  MetricData data{.columns = classes, .outputs = {}, .labels = {}, .targets = {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t label =
        classes == 5 ? (i * i * i + i / 3) % 5 : (i * i + 3 * i) / 2 % classes;
    for (std::int64_t j = 0; j < classes; ++j) {
      const auto sixteenths = static_cast<float>((i * 37 + j * 101 + i * j * 13) % 64);
      data.outputs.push_back(sixteenths / 16 - 2 + (j == label ? 0.75F : 0));
    }
    data.labels.push_back(label);
  }
  return data;
}

TEST_CASE("classification metrics have scikit-learn's values", "[metrics]") {
  // scikit-learn 1.2.1: accuracy_score; precision_score, recall_score and f1_score with
  // average="binary" or "macro" and zero_division=0; roc_auc_score of softmax probabilities with
  // multi_class="ovr" (it refuses the third, where classes are missing); exp(log_loss).
  const Expected cases[] = {
      {50, 2, 0.56, 0.538461538461538, 0.583333333333333, 0.56, 0.625, 2.1558639300833},
      {60, 4, 0.4, 0.403016591251885, 0.398809523809524, 0.399891248212299, 0.674786830520526,
       3.80410839563413},
      {90, 7, 0.355555555555556, 0.276223776223776, 0.205054945054945, 0.232769423558897, NAN,
       6.73498317451729},
      {80, 5, 0.375, 0.36017316017316, 0.350119825708061, 0.346428571428571, 0.636067024248116,
       5.00295388321286},
  };
  for (const Expected& expected : cases) {
    INFO(expected.classes << " classes");
    const MetricData data = Arithmetic(expected.rows, expected.classes);
    CHECK(ValueOf("accuracy", data) == Approx(expected.accuracy).epsilon(1e-12));
    CHECK(ValueOf("confusion_matrix", data) == Approx(expected.accuracy).epsilon(1e-12));
    CHECK(ValueOf("precision", data) == Approx(expected.precision).epsilon(1e-12));
    CHECK(ValueOf("recall", data) == Approx(expected.recall).epsilon(1e-12));
    CHECK(ValueOf("f1", data) == Approx(expected.f1).epsilon(1e-12));
    CHECK(ValueOf("perplexity", data) == Approx(expected.perplexity).epsilon(1e-12));
    if (std::isnan(expected.auroc)) {
      CHECK(std::isnan(ValueOf("auroc", data)));
    } else {
      CHECK(ValueOf("auroc", data) == Approx(expected.auroc).epsilon(1e-12));
    }
  }
}

TEST_CASE("the confusion matrix is scikit-learn's", "[metrics]") {
  // confusion_matrix(labels, predictions) of scikit-learn 1.2.1.
  CHECK(testing::Filled("confusion_matrix", Arithmetic(60, 4))->Matrix() ==
        std::vector<std::vector<std::int64_t>>{
            {5, 5, 2, 3}, {5, 8, 2, 1}, {3, 2, 5, 5}, {4, 0, 4, 6}});
}

TEST_CASE("top-k has scikit-learn's values", "[metrics]") {
  MetricData data{.columns = 6, .outputs = {}, .labels = {}, .targets = {}};
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 6; ++j) {
      data.outputs.push_back(static_cast<float>((i * 37 + j * 11) % 64 * 0.1 + j * 0.01));
    }
    data.labels.push_back(i * i % 6);
  }
  // scikit-learn 1.2.1: top_k_accuracy_score.
  CHECK(ValueOf("top_1", data) == Approx(0.15));
  CHECK(ValueOf("top_2", data) == Approx(0.325));
  CHECK(ValueOf("top_3", data) == Approx(0.45));
  CHECK(ValueOf("top_5", data) == Approx(0.8));
}

TEST_CASE("accuracy counts what the backend counts", "[metrics]") {
  MetricData data = RandomLabelled(31, 300, 4, true);
  for (std::size_t i = 0; i < data.outputs.size(); i += 37) data.outputs[i] = NAN;
  const Tensor logits = testing::MakeTensor<float>({300, 4}, data.outputs);
  const Tensor labels = testing::MakeTensor<std::int64_t>({300}, data.labels, DType::kI64);
  const std::int64_t correct = MakeEigenBackend()->loss().CountCorrect(logits, labels);
  CHECK(ValueOf("accuracy", data) == static_cast<double>(correct) / 300);
}

void AddInParts(Metric& metric, const MetricData& data, std::uint64_t key) {
  std::size_t begin = 0;
  for (std::uint64_t part = 0; begin < data.rows(); ++part) {
    const auto count = static_cast<std::size_t>(UniformAt(key, part) * 40);  // some are empty
    const std::size_t taken = std::min(count, data.rows() - begin);
    metric.Add(data.Part(begin, taken));
    begin += taken;
  }
}

TEST_CASE("batches change no bit of a metric", "[metrics]") {
  for (const std::string_view name : {"accuracy", "top_2", "precision", "recall", "f1", "auroc",
                                      "confusion_matrix", "mae", "rmse", "r2", "perplexity"}) {
    const bool of_labels = FindMetric(name).of_labels;
    for (const std::int64_t columns : {2, 5}) {
      INFO(name << " of " << columns << " columns");
      const MetricData data = of_labels ? RandomLabelled(21, 500, columns, false, 0.2)
                                        : RandomTargets(21, 500, columns);
      const auto whole = testing::Filled(name, data);
      const auto metric = MakeMetric(name, {.classes = columns});
      for (std::uint64_t split = 0; split < 20; ++split) {
        AddInParts(*metric, data, StreamKey(split, "parts"));
        CHECK(std::bit_cast<std::uint64_t>(metric->Value()) ==
              std::bit_cast<std::uint64_t>(whole->Value()));
        CHECK(metric->Matrix() == whole->Matrix());
        metric->Reset();
        CHECK(std::isnan(metric->Value()));
      }
      for (std::size_t row = 0; row < data.rows(); ++row) metric->Add(data.Part(row, 1));
      CHECK(metric->Value() == whole->Value());
      CHECK(metric->Value() == metric->Value());
    }
  }
}

TEST_CASE("a value may be read between batches", "[metrics]") {
  const MetricData data = RandomLabelled(22, 200, 3);
  for (const std::string_view name : {"auroc", "f1", "perplexity"}) {
    const auto metric = MakeMetric(name, {.classes = 3});
    metric->Add(data.Part(0, 120));
    MetricData start = data;
    start.outputs.resize(360);
    start.labels.resize(120);
    CHECK(metric->Value() == ValueOf(name, start));
    metric->Add(data.Part(120, 80));
    CHECK(metric->Value() == ValueOf(name, data));
  }
}

TEST_CASE("a metric says what it holds", "[metrics]") {
  const auto held = [](std::string_view name) {
    return testing::Filled(name, RandomLabelled(23, 100, 10))->HeldBytes();
  };
  CHECK(held("accuracy") == 0);
  CHECK(held("perplexity") == 0);
  CHECK(held("f1") == 10 * 3 * 8);
  CHECK(held("confusion_matrix") == 10 * 10 * 8);
  CHECK(held("auroc") >= 100 * (10 * 4 + 4));
}

}  // namespace
}  // namespace frugal
