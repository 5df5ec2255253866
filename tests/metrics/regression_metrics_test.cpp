#include <cmath>
#include <limits>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/metrics/metric_data.h"

namespace frugal {
namespace {

using testing::MetricData;
using testing::RandomTargets;
using testing::ValueOf;

MetricData Values(std::vector<float> outputs, std::vector<float> targets) {
  return {.columns = 1, .outputs = std::move(outputs), .labels = {}, .targets = std::move(targets)};
}

TEST_CASE("errors of a few numbers are as computed by hand", "[metrics]") {
  const MetricData data = Values({2.5F, 0, 2, 8}, {3, -0.5F, 2, 7});
  CHECK(ValueOf("mae", data) == 0.5);
  CHECK(ValueOf("rmse", data) == Approx(std::sqrt(0.375)).epsilon(1e-15));
  CHECK(ValueOf("r2", data) == Approx(1 - 1.5 / 29.1875).epsilon(1e-15));
}

TEST_CASE("regression metrics have scikit-learn's values", "[metrics]") {
  MetricData data = Values({}, {});
  for (int i = 0; i < 48; ++i) {
    const double output = ((i * 29) % 64) / 16.0 - 2;
    data.outputs.push_back(static_cast<float>(output));
    data.targets.push_back(static_cast<float>(output + ((i * i * 7) % 32) / 32.0 - 0.4));
  }
  // scikit-learn 1.2.1: mean_absolute_error, the root of mean_squared_error, r2_score.
  constexpr double kMae = 0.323437498639881, kRmse = 0.368087324998447, kR2 = 0.911128983237829;
  CHECK(ValueOf("mae", data) == Approx(kMae).epsilon(1e-12));
  CHECK(ValueOf("rmse", data) == Approx(kRmse).epsilon(1e-12));
  CHECK(ValueOf("r2", data) == Approx(kR2).epsilon(1e-12));
}

TEST_CASE("regression metrics are those of two passes over all numbers", "[metrics]") {
  for (const std::int64_t columns : {1, 4}) {
    const MetricData data = RandomTargets(7, 500, columns);
    const auto count = static_cast<long double>(data.targets.size());
    long double mean = 0, absolute = 0, squared = 0, variance = 0;
    for (const float target : data.targets) mean += target / count;
    for (std::size_t i = 0; i < data.targets.size(); ++i) {
      const long double error = static_cast<long double>(data.outputs[i]) - data.targets[i];
      absolute += std::fabs(error) / count;
      squared += error * error / count;
      variance += (data.targets[i] - mean) * (data.targets[i] - mean) / count;
    }
    CHECK(ValueOf("mae", data) == Approx(static_cast<double>(absolute)).epsilon(1e-13));
    CHECK(ValueOf("rmse", data) == Approx(static_cast<double>(std::sqrt(squared))).epsilon(1e-13));
    CHECK(ValueOf("r2", data) ==
          Approx(static_cast<double>(1 - squared / variance)).epsilon(1e-13));
  }
}

TEST_CASE("targets far from zero lose no digits of r2", "[metrics]") {
  std::vector<float> outputs, targets;
  for (int i = 0; i < 1000; ++i) {
    targets.push_back(static_cast<float>(8'000'000 + i % 2));
    outputs.push_back(8'000'000.5F);
  }
  CHECK(ValueOf("r2", Values(outputs, targets)) == Approx(0).margin(1e-12));
}

TEST_CASE("r2 of targets that do not vary is scikit-learn's", "[metrics]") {
  CHECK(ValueOf("r2", Values({2, 2}, {2, 2})) == 1);
  CHECK(ValueOf("r2", Values({2, 3}, {2, 2})) == 0);
  CHECK(std::isnan(ValueOf("r2", Values({2}, {2}))));
  CHECK(ValueOf("r2", Values({3, 2}, {2, 3})) == Approx(-3));
}

TEST_CASE("a NaN or an infinity shows in regression metrics until a reset", "[metrics]") {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  for (const std::string_view name : {"mae", "rmse", "r2"}) {
    INFO(name);
    const auto metric = MakeMetric(name, {});
    for (const float wrong : {kMissing, std::numeric_limits<float>::infinity()}) {
      metric->Add(Values({1, wrong, 3}, {1, 2, 4}).All());
      CHECK_FALSE(std::isfinite(metric->Value()));
      metric->Reset();
      CHECK(std::isnan(metric->Value()));
    }
    metric->Add(Values({1, 2, 3}, {1, 2, 3}).All());
    CHECK(metric->Value() == (name == "r2" ? 1 : 0));
    CHECK(std::isnan(ValueOf(name, Values({kMissing, 1}, {2, 2}))));
  }
}

TEST_CASE("the largest floats do not overflow", "[metrics]") {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const MetricData data = Values({kLargest, -kLargest}, {-kLargest, kLargest});
  CHECK(ValueOf("mae", data) == 2.0 * kLargest);
  CHECK(ValueOf("rmse", data) == Approx(2.0 * kLargest));
  CHECK(ValueOf("r2", data) == Approx(-3));
}

TEST_CASE("every output needs a target", "[metrics]") {
  const auto metric = MakeMetric("mae", {});
  CHECK_THROWS_AS(metric->Add(Values({1, 2}, {1}).All()), ShapeError);
  const std::vector<std::int64_t> labels = {0, 1};
  const std::vector<float> outputs = {1, 2};
  CHECK_THROWS_WITH(metric->Add({.outputs = outputs, .columns = 1, .labels = labels}),
                    Catch::Contains("2 outputs came with 0 targets"));
}

}  // namespace
}  // namespace frugal
