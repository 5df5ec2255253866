#pragma once

#include <string>
#include <vector>

#include "builders/memory_report/memory_report.h"

namespace frugal {

// Words that texts and pages of memory reports have in common.

// The first `most` of them, and what is left as one "37 others".
std::vector<MemoryShare> Shortened(const std::vector<MemoryShare>& shares, std::size_t most);
// By purpose, most first; what has none is left out.
std::vector<MemoryShare> SharesByPurpose(const StepMemory& memory);

// Says what the layer of that path is, or which layer it lies in: "dense 16 -> 3", "in residual".
std::string LayerText(const MemoryReport& report, const std::string& path);
std::string ShareText(std::int64_t bytes, std::int64_t total);  // "12.3%"
std::string FormText(const HeldBlock& block);                   // "f32 [32, 128]"
std::string FormText(const std::optional<TensorForm>& form);    // "" where it is not known
// "convolution" of the holder's own, else "conv1: convolution"; "before the step"
std::string MakerText(const HeldBlock& block);
std::string LastUseText(const HeldBlock& block);                 // "behind the step" where it stays
std::string SideBySideLine(const SimultaneousBuffers& buffers);  // "activation of fc: 2 x 3.1 MB"

// ", while conv1: convolution ran (event 12 of 80)"
std::string PeakMomentText(const StepMemory& memory);
// Says what is alive behind the step, and what gaps the arena's layout has.
std::vector<std::string> StepLines(const StepMemory& memory);
// Says what is resident beside tensors, and whether more is live behind later steps.
std::vector<std::string> ProcessLines(const MemoryReport& report);
// "parameter 4.1 MB, activation 2.0 MB": the `most` largest.
std::string PurposesText(const BytesByTag& bytes, std::size_t most);

}  // namespace frugal
