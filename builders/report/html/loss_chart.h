#pragma once

#include <string>

#include "builders/report/rows/report_data.h"

namespace frugal {

// The loss of each step with a smoothed line, and under it, epoch by epoch, the test accuracy (or
// the test loss where there are no labels). HTML.
std::string LearningCharts(const ReportData& data);

}  // namespace frugal
