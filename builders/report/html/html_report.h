#pragma once

#include <string>

#include "builders/report/rows/report_data.h"

namespace frugal {

// A finished training as one HTML page that needs nothing else: no network, no script, no font.
// Shows key figures, the loss and the test accuracy, memory over one step with its peak and what
// holds it, planned beside measured bytes, the layers, and the configuration with the origin of
// each value.
std::string HtmlReport(const ReportData& data);

}  // namespace frugal
