#include "sdk/metrics/metric_registry.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "sdk/core/error.h"
#include "sdk/metrics/built_in_metrics.h"

namespace frugal {
namespace {

std::vector<MetricRow> BuiltInRows() {
  std::vector<MetricRow> rows;
  for (auto make : {AccuracyRows, PrecisionRecallRows, AurocRows, ConfusionMatrixRows,
                    RegressionMetricRows, PerplexityRows}) {
    std::ranges::move(make(), std::back_inserter(rows));
  }
  return rows;
}

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

// A row, and the k that its name was written with.
struct NamedMetric {
  const MetricRow* row = nullptr;
  std::int64_t k = 0;
  bool has_k = false;
};

// Reads "top_5" as row "top_k" with k = 5. Such a number does not begin with a 0, but may be one.
NamedMetric LookNumbered(std::string_view name) {
  const std::size_t line = name.rfind('_');
  if (line == std::string_view::npos) return {};
  const std::string_view digits = name.substr(line + 1);
  const bool is_number = !digits.empty() && std::ranges::all_of(digits, IsDigit) &&
                         (digits == "0" || digits.front() != '0');
  if (!is_number) return {};
  std::int64_t k = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), k);
  if (result.ec != std::errc()) k = std::numeric_limits<std::int64_t>::max();
  return {Metrics().Find(std::string(name.substr(0, line)) + "_k"), k, true};
}

NamedMetric Look(std::string_view name) {
  if (const MetricRow* row = Metrics().Find(name)) return {.row = row};
  const NamedMetric numbered = LookNumbered(name);
  if (numbered.row != nullptr) return numbered;
  std::string names;
  for (const std::string& known : Metrics().Names()) names += (names.empty() ? "" : ", ") + known;
  throw ConfigError({.where = "metrics",
                     .required = "a metric is one of " + names,
                     .given = "\"" + std::string(name) + "\" is none",
                     .advice = "correct the name, with a number for a k at its end as in top_5, or "
                               "add a metric of your own with Metrics().Add"});
}

}  // namespace

Registry<MetricRow>& Metrics() {
  static Registry<MetricRow> metrics("metric", BuiltInRows());
  return metrics;
}

const MetricRow& FindMetric(std::string_view name) { return *Look(name).row; }

std::unique_ptr<Metric> MakeMetric(std::string_view name, const MetricSetup& setup) {
  const NamedMetric named = Look(name);
  MetricSetup own = setup;
  if (named.has_k) own.k = named.k;
  auto metric = named.row->make ? named.row->make(own) : nullptr;
  if (metric == nullptr) {
    throw UsageError({.where = "metric " + named.row->name,
                      .required = "the function `make` of a metric's row returns a metric",
                      .given = named.row->make ? "it returned none" : "the row has none",
                      .advice = "give the row one"});
  }
  return metric;
}

}  // namespace frugal
