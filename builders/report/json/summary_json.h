#pragma once

#include <string>

#include "builders/report/rows/report_data.h"

namespace frugal {

// A finished training for programs, as `frugal train --summary` writes it: an object with at least
// steps, seconds, losses, test_accuracy, planned_bytes, measured_bytes (by purpose, and `peak` of
// all together), allocations_after_warmup, peak_rss_bytes and weights_hash. Numbers read back as
// the same double; those that are not finite, and what was not measured, are null, as are
// tokens_per_second and test_bits_per_byte where the data are no text.
std::string SummaryJson(const ReportData& data);

}  // namespace frugal
