#pragma once

#include <string>

#include "builders/memory_report/memory_report.h"

namespace frugal {

// The report as one HTML file that needs nothing else: what is live over the step, the arena as a
// map of addresses over time in which each block tells under the pointer whose it is (the wheel
// zooms, dragging moves), tables of the peak, the curve of budgets, growth over steps and the
// allocators. Its size is bounded, whatever the network's is.
std::string MemoryPage(const MemoryReport& report);

}  // namespace frugal
