#include <cmath>
#include <limits>

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

// Rows of two logits whose difference is the score.
MetricData Scored(const std::vector<float>& scores, std::vector<std::int64_t> labels) {
  std::vector<float> logits;
  for (const float score : scores) logits.insert(logits.end(), {0, score});
  return Classified(2, logits, std::move(labels));
}

long double Probability(std::span<const float> logits, std::size_t one) {
  long double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<long double>(logit) - logits[one]);
  return 1 / sum;
}

// Compares every positive row with every negative one.
long double AreaByPairs(const MetricData& data, std::size_t one) {
  long double wins = 0, pairs = 0;
  for (std::size_t a = 0; a < data.rows(); ++a) {
    if (data.labels[a] != static_cast<std::int64_t>(one)) continue;
    for (std::size_t b = 0; b < data.rows(); ++b) {
      if (data.labels[b] == static_cast<std::int64_t>(one) || data.labels[b] == kIgnored) continue;
      const long double p = Probability(data.Row(a), one), q = Probability(data.Row(b), one);
      const bool equal = std::fabs(p - q) < 1e-14L * p;
      wins += equal ? 0.5L : (p > q ? 1 : 0);
      pairs += 1;
    }
  }
  return wins / pairs;
}

TEST_CASE("auroc of a few scores is as computed by hand", "[metrics]") {
  // The example of scikit-learn's roc_auc_score.
  CHECK(ValueOf("auroc", Scored({0.1F, 0.4F, 0.35F, 0.8F}, {0, 0, 1, 1})) == 0.75);
  CHECK(ValueOf("auroc", Scored({1, 2, 3}, {0, 0, 1})) == 1);
  CHECK(ValueOf("auroc", Scored({1, 2, 3}, {1, 0, 0})) == 0);
  CHECK(ValueOf("auroc", Scored({2, 2, 2, 2}, {0, 1, 1, 0})) == 0.5);
  CHECK(ValueOf("auroc", Scored({2, 2, 1}, {0, 1, 0})) == 0.75);
  CHECK(ValueOf("auroc", Scored({0, -0.0F}, {0, 1})) == 0.5);
}

TEST_CASE("auroc is the share of pairs in order", "[metrics]") {
  for (const bool coarse : {false, true}) {
    for (const std::int64_t classes : {2, 3, 5}) {
      const MetricData data = RandomLabelled(11, 150, classes, coarse, 0.1);
      INFO(classes << " classes, " << (coarse ? "with ties" : "without ties"));
      long double area = 0;
      for (std::int64_t one = 0; one < classes; ++one) {
        area += AreaByPairs(data, static_cast<std::size_t>(one)) / static_cast<double>(classes);
      }
      if (classes == 2) area = AreaByPairs(data, 1);
      CHECK(ValueOf("auroc", data) == Approx(static_cast<double>(area)).epsilon(1e-13));
    }
  }
}

TEST_CASE("huge logits keep their order where probabilities round to 1", "[metrics]") {
  CHECK(ValueOf("auroc", Scored({1000, 2000, 3000, 4000}, {0, 1, 0, 1})) == 0.75);
  CHECK(ValueOf("auroc", Scored({-4000, -3000, -2000, -1000}, {0, 1, 0, 1})) == 0.75);
  const auto three =
      Classified(3, {1e4F, 0, 0, 2e4F, 0, 0, 0, 1e4F, 0, 0, 2e4F, 0, 0, 0, 1e4F, 0, 0, 2e4F},
                 {1, 0, 2, 1, 0, 2});
  // For each class one positive wins all 4 pairs, and the other one 2 with a tie.
  CHECK(ValueOf("auroc", three) == Approx(6.5 / 8).epsilon(1e-15));
}

TEST_CASE("infinite logits have their order too", "[metrics]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(ValueOf("auroc", Scored({-kInfinity, 0, kInfinity}, {0, 0, 1})) == 1);
  CHECK(ValueOf("auroc", Scored({-kInfinity, -kInfinity}, {0, 1})) == 0.5);
  const auto masked = Classified(3, {1, 2, -kInfinity, 2, 1, -kInfinity, 0, 0, 0}, {1, 0, 2});
  CHECK(ValueOf("auroc", masked) == 1);
  CHECK(std::isnan(ValueOf("auroc", Classified(2, {kInfinity, kInfinity, 0, 1}, {0, 1}))));
}

TEST_CASE("auroc is NaN without pairs to compare, and with a NaN among the outputs", "[metrics]") {
  CHECK(std::isnan(ValueOf("auroc", Scored({1, 2}, {1, 1}))));
  CHECK(std::isnan(ValueOf("auroc", Scored({1, 2}, {0, 0}))));
  CHECK(std::isnan(ValueOf("auroc", Scored({1, 2}, {kIgnored, kIgnored}))));
  CHECK(std::isnan(ValueOf("auroc", Classified(3, {1, 2, 3, 3, 2, 1}, {0, 1}))));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(ValueOf("auroc", Scored({1, kNan, 3}, {0, 1, 1}))));
  CHECK(ValueOf("auroc", Scored({1, kNan, 3}, {0, kIgnored, 1})) == 1);
}

TEST_CASE("auroc holds all logits and gives them back", "[metrics]") {
  const MetricData data = RandomLabelled(3, 1000, 4);
  const auto metric = Filled("auroc", data);
  CHECK(metric->HeldBytes() >= 1000 * (4 * 4 + 4));
  CHECK(metric->HeldBytes() < 2 * 1000 * (4 * 4 + 4) + 64);
  metric->Reset();
  CHECK(metric->HeldBytes() == 0);
  CHECK(std::isnan(metric->Value()));
}

}  // namespace
}  // namespace frugal
