#pragma once

#include <string>

#include "builders/report/rows/report_data.h"

namespace frugal {

// Memory over one training step, stacked by purpose, with the peak marked; over it the measured
// total where memory statistics were tracked. Then a table of what is held at the peak. HTML.
std::string StepMemorySection(const ReportData& data);

// Draws what is live over a step, stacked by purpose, with its peak marked; over it the measured
// total, where that is not null. HTML with a legend.
std::string LiveMemoryChart(const BytesByTag& baseline, const MemoryTimeline& timeline,
                            const MemoryTimeline* measured);

// The colour of a purpose in charts and their legends: "#59a14f".
std::string ColourOf(MemoryTag tag);

}  // namespace frugal
