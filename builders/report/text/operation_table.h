#pragma once

#include <string>

#include "builders/report/rows/operation_rows.h"

namespace frugal {

// Tells where the time of a step went, as text for a terminal.
std::string OperationTableText(const OperationProfile& profile);

// Says what the figures are of, and the limits where they were measured.
std::string OperationNote(const OperationProfile& profile);

}  // namespace frugal
