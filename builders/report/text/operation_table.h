#pragma once

#include <string>
#include <vector>

#include "builders/report/rows/operation_rows.h"

namespace frugal {

// Tells where the time of a step went, as text for a terminal.
std::string OperationTableText(const OperationProfile& profile);

// The cells of a row, under "operation", "calls", "ms", "time", "GFLOP/s", "of limit", "GB/s",
// "of copy".
std::vector<std::string> OperationCells(const OperationRow& row);
// Says what the figures are of, and the limits where they were measured.
std::string OperationNote(const OperationProfile& profile);

}  // namespace frugal
