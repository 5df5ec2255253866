#pragma once

#include <string>

#include "builders/report/rows/report_data.h"

namespace frugal {

// Parts of the report, each a finished piece of HTML.
std::string KeyFigures(const ReportData& data);
std::string MemoryComparisonSection(const ReportData& data);  // planned beside measured, the steps
std::string LayersSection(const ReportData& data);
std::string OperationsSection(const ReportData& data);  // empty without a profile
std::string ConfigurationSection(const RunConfig& config);

// Several devices: what each holds, the planned step and the one that ran; empty with one.
std::string DevicesSection(const ReportData& data);

}  // namespace frugal
