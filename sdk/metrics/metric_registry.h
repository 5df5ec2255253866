#pragma once

#include <memory>
#include <string_view>

#include "sdk/core/registry.h"
#include "sdk/metrics/metric_row.h"

namespace frugal {

// Ours, and those that programs add: Metrics().Add({.name = "brier", ...}). Threads: as Registry.
Registry<MetricRow>& Metrics();

// The row that makes the metric of this name: "top_k" for "top_5". Throws ConfigError where there
// is none, with the names that there are.
const MetricRow& FindMetric(std::string_view name);

// Throws ConfigError for an unknown name, and for a number of classes or a k that the metric cannot
// have; UsageError where a row that was added makes nothing.
std::unique_ptr<Metric> MakeMetric(std::string_view name, const MetricSetup& setup);

}  // namespace frugal
