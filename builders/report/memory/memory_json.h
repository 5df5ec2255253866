#pragma once

#include <string>

#include "builders/memory_report/memory_report.h"

namespace frugal {

// The report as JSON: totals and shares of each step whole, its largest tensors and its timeline
// within bounds (`most_*`), the allocators' statistics, the curve and the process. Bytes are whole
// numbers; shares of one step add up to its "peak_bytes".
struct MemoryJsonOptions {
  std::size_t most_tensors = 200;
  std::size_t most_events = 4000;  // of a timeline; the peak is always among them
};
std::string MemoryJson(const MemoryReport& report, const MemoryJsonOptions& options = {});

}  // namespace frugal
