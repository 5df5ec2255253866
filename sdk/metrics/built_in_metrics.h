#pragma once

#include <vector>

#include "sdk/metrics/metric_row.h"

namespace frugal {

// Rows of the registry, each made in the file that is called as its function.
std::vector<MetricRow> AccuracyRows();         // accuracy, top_k
std::vector<MetricRow> PrecisionRecallRows();  // precision, recall, f1
std::vector<MetricRow> AurocRows();
std::vector<MetricRow> ConfusionMatrixRows();
std::vector<MetricRow> RegressionMetricRows();  // mae, rmse, r2
std::vector<MetricRow> PerplexityRows();

}  // namespace frugal
