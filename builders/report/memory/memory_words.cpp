#include "builders/report/memory/memory_words.h"

#include <algorithm>

#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::vector<MemoryShare> SharesOf(const BytesByTag& bytes) {
  std::vector<MemoryShare> shares;
  for (const MemoryTag tag : kAllMemoryTags) {
    if (bytes[tag] > 0) shares.push_back({.name = std::string(NameOf(tag)), .bytes = bytes[tag]});
  }
  std::ranges::stable_sort(shares, std::ranges::greater{}, &MemoryShare::bytes);
  return shares;
}

// A layer's own operations need not name it again.
std::string NameBeside(const std::string& holder, const NamedOperation& operation) {
  const std::string text = Describe(operation);
  return operation.layer == holder ? text.substr(operation.layer.size() + 2) : text;
}

// The operation that ran when the peak was there.
const StepOperation* OperationAt(const StepMemory& memory, std::size_t event) {
  const StepOperation* last = nullptr;
  for (const StepOperation& operation : memory.operations) {
    if (operation.event > static_cast<std::int64_t>(event) + 1) break;
    last = &operation;
  }
  return last;
}

}  // namespace

std::vector<MemoryShare> Shortened(const std::vector<MemoryShare>& shares, std::size_t most) {
  if (shares.size() <= most) return shares;
  std::vector<MemoryShare> shortened(shares.begin(),
                                     shares.begin() + static_cast<std::ptrdiff_t>(most) - 1);
  MemoryShare rest;
  const std::size_t others = shares.size() - shortened.size();
  rest.name = FormatCount(static_cast<std::int64_t>(others)) + " others";
  for (std::size_t i = shortened.size(); i < shares.size(); ++i) {
    rest.bytes += shares[i].bytes;
    rest.blocks += shares[i].blocks;
    rest.layers += shares[i].layers;
  }
  shortened.push_back(std::move(rest));
  return shortened;
}

std::vector<MemoryShare> SharesByPurpose(const StepMemory& memory) {
  std::vector<MemoryShare> shares = SharesOf(memory.at_peak);
  for (MemoryShare& share : shares) {
    share.blocks = std::ranges::count_if(
        memory.blocks, [&](const HeldBlock& block) { return NameOf(block.tag) == share.name; });
  }
  return shares;
}

std::string LayerText(const MemoryReport& report, const std::string& path) {
  if (const auto own = report.layers.find(path); own != report.layers.end()) return own->second;
  for (std::size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0;
       dot = path.rfind('.', dot - 1)) {
    const auto around = report.layers.find(path.substr(0, dot));
    if (around != report.layers.end()) return "in " + around->second;
  }
  return "";
}

std::string ShareText(std::int64_t bytes, std::int64_t total) {
  if (total == 0) return "";
  return FixedText(100 * static_cast<double>(bytes) / static_cast<double>(total), 1) + "%";
}

std::string FormText(const std::optional<TensorForm>& form) {
  return form ? std::string(NameOf(form->dtype)) + " " + ToString(form->shape) : "";
}

std::string FormText(const HeldBlock& block) { return FormText(block.form); }

std::string MakerText(const HeldBlock& block) {
  if (block.before_step) return "before the step";
  return block.made_by ? NameBeside(block.holder, *block.made_by) : "";
}

std::string LastUseText(const HeldBlock& block) {
  if (block.before_step || !block.last_needed) return "stays behind the step";
  return NameBeside(block.holder, *block.last_needed);
}

std::string SideBySideLine(const SimultaneousBuffers& buffers) {
  return std::string(NameOf(buffers.tag)) + " of " + buffers.label + ": " +
         std::to_string(buffers.count) + " x " + FormatBytes(buffers.bytes);
}

std::string PeakMomentText(const StepMemory& memory) {
  if (memory.timeline.live.empty()) return "";
  const StepOperation* operation = OperationAt(memory, memory.timeline.peak_event);
  const std::string event =
      "event " + FormatCount(static_cast<std::int64_t>(memory.timeline.peak_event) + 1) + " of " +
      FormatCount(static_cast<std::int64_t>(memory.timeline.live.size()));
  return operation == nullptr ? ", " + event
                              : ", while " + Describe(operation->name) + " ran (" + event + ")";
}

std::vector<std::string> StepLines(const StepMemory& memory) {
  std::vector<std::string> lines = {"Alive behind the step: " + FormatBytes(memory.end_bytes) +
                                    ", before it: " + FormatBytes(memory.baseline.Total())};
  if (memory.arena_bytes > 0) {
    const std::int64_t gaps = memory.arena_bytes - memory.arena_lower_bound_bytes;
    lines.push_back("The arena takes " + FormatBytes(memory.arena_bytes) + " for blocks of which " +
                    FormatBytes(memory.arena_lower_bound_bytes) +
                    " are live at most: fragmentation " + ShareText(gaps, memory.arena_bytes));
  }
  return lines;
}

std::vector<std::string> ProcessLines(const MemoryReport& report) {
  std::vector<std::string> lines;
  if (report.process) {
    const ProcessMemory& process = *report.process;
    lines.push_back("The process has " + FormatBytes(process.resident_bytes) + " resident, " +
                    FormatBytes(process.peak_resident_bytes) + " at its peak; " +
                    FormatBytes(process.reserved_bytes) + " are reserved for tensors, and " +
                    FormatBytes(process.OtherBytes()) + " are code, libraries and their tables");
  }
  if (report.growth.size() > 1) {
    const MemoryAfterStep& first = report.growth.front();
    const MemoryAfterStep& last = report.growth.back();
    lines.push_back("Live behind step " + FormatCount(first.step) + ": " +
                    FormatBytes(first.live_bytes) + ", behind step " + FormatCount(last.step) +
                    ": " + FormatBytes(last.live_bytes) +
                    (first.live_bytes == last.live_bytes ? ", no growth" : ""));
  }
  return lines;
}

std::string PurposesText(const BytesByTag& bytes, std::size_t most) {
  std::string text;
  const std::vector<MemoryShare> shares = SharesOf(bytes);
  for (std::size_t i = 0; i < std::min(most, shares.size()); ++i) {
    text += (i > 0 ? ", " : "") + shares[i].name + " " + FormatBytes(shares[i].bytes);
  }
  return text;
}

}  // namespace frugal
