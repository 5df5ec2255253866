#pragma once

#include <string>

#include "builders/memory_report/memory_report.h"

namespace frugal {

// The report in tables for a terminal: for each device and step the peak by kind of operation, by
// layer and by purpose, the largest tensors, what an update in place would save, the arena; then
// what recomputation can do, the allocators and the process.
std::string MemoryText(const MemoryReport& report);

// "down to 46.8 GB by recomputation, from 63.3 GB; floor 10.6 GB (parameter 4.1 GB, ...)": what a
// plan takes beside keeping all, and the least that was found.
std::string RecomputationText(const BudgetCurve& curve, std::int64_t planned_bytes);

}  // namespace frugal
