#pragma once

#include <string>

#include "builders/memory_report/memory_report.h"

namespace frugal {

// The report's steps as a trace in the Trace Event Format, which Perfetto and chrome://tracing
// open: a process for each device and step, its operations as complete events ("X"), and live bytes
// by purpose as a counter ("C"). Of a measured step times are the clock's, in microseconds; of a
// planned one, which has none, an operation takes one for each event of its timeline, and the name
// of its process says so.
std::string MemoryChromeTrace(const MemoryReport& report);

}  // namespace frugal
