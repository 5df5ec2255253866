#include "builders/report/memory/memory_text.h"

#include <algorithm>
#include <functional>

#include "builders/report/memory/memory_words.h"
#include "builders/report/rows/plan_phrases.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr std::size_t kMostLayers = 12;
constexpr std::size_t kMostTensors = 15;

// Tells what a table says of a share beside its bytes.
using MoreText = std::function<std::string(const MemoryShare&)>;

std::string TableOf(const std::string& title, const std::vector<MemoryShare>& shares,
                    std::size_t most, const std::string& more_title = "",
                    const MoreText& more = nullptr) {
  TextTable table;
  table.columns = {{title}, {"bytes", true}, {"", true}, {"share", true}, {"blocks", true}};
  if (more) table.columns.push_back({more_title});
  MemoryShare all{.name = "all together"};
  for (const MemoryShare& share : shares) {
    all.bytes += share.bytes;
    all.blocks += share.blocks;
  }
  const auto add = [&](const MemoryShare& share, const std::string& text) {
    table.rows.push_back({share.name, FormatCount(share.bytes), FormatBytes(share.bytes),
                          ShareText(share.bytes, all.bytes), FormatCount(share.blocks)});
    if (more) table.rows.back().push_back(text);
  };
  for (const MemoryShare& share : Shortened(shares, most)) add(share, more ? more(share) : "");
  add(all, "");
  return ToText(table) + "\n";
}

std::string TensorsText(const StepMemory& memory) {
  TextTable table;
  table.columns = {{"Largest at the peak"}, {"", true}, {"purpose"}, {"tensor"}, {"made by"},
                   {"last needed by"}};
  table.width = 150;
  for (std::size_t i = 0; i < std::min(kMostTensors, memory.blocks.size()); ++i) {
    const HeldBlock& block = memory.blocks[i];
    table.rows.push_back({block.holder, FormatBytes(block.bytes), std::string(NameOf(block.tag)),
                          FormText(block), MakerText(block), LastUseText(block)});
  }
  return ToText(table) + "\n";
}

std::string StepText(const MemoryReport& report, const StepReport& step, const char* how) {
  const StepMemory& memory = step.memory;
  std::string text = step.name + ", " + how + ": peak " + FormatBytes(memory.peak_bytes) + " (" +
                     FormatCount(memory.peak_bytes) + " bytes)" + PeakMomentText(memory) + "\n\n";
  text += TableOf("By kind of operation", SharesByKind(memory), 30, "holders",
                  [](const MemoryShare& share) { return FormatCount(share.layers); });
  text += TableOf("By layer", SharesByLayer(memory), kMostLayers, "",
                  [&](const MemoryShare& share) { return LayerText(report, share.name); });
  text += TableOf("By purpose", SharesByPurpose(memory), kMemoryTagCount);
  text += TensorsText(memory);
  for (const std::string& line : StepLines(memory)) text += "  " + line + "\n";
  return text + "\n";
}

std::string SideBySideText(const std::vector<SimultaneousBuffers>& all) {
  if (all.empty()) return "";
  std::string text = "  Side by side at the peak; an update in place would save one of each:\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(8, all.size()); ++i) {
    text += "    " + SideBySideLine(all[i]) + "\n";
  }
  return text + "\n";
}

std::string AllocatorsText(const MemoryReport& report) {
  TextTable table;
  table.columns = {{"Allocator"}};
  for (const DeviceReport& device : report.devices) {
    if (!device.now) continue;
    table.columns.push_back({"device " + std::to_string(device.device), true});
    const auto values = NamedValues(device.now->allocator);
    table.rows.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (table.rows[i].empty()) table.rows[i].emplace_back(values[i].first);
      table.rows[i].push_back(FormatCount(values[i].second));
    }
  }
  return table.rows.empty() ? "" : ToText(table) + "\n";
}

std::string CurveText(const MemoryReport& report) {
  if (!report.curve) {
    return report.no_curve.empty() ? ""
                                   : "  No curve of budgets is planned: " + report.no_curve + "\n";
  }
  TextTable table;
  table.columns = {
      {"Peak within"}, {"bytes", true}, {"predicted time", true}, {"segments", true}, {"found by"}};
  const bool pages = report.curve->lines.size() > 1;
  if (pages) table.columns.push_back({"in the page file"});
  for (const BudgetPoint& point : report.curve->points) {
    table.rows.push_back({FormatBytes(point.peak_bytes), FormatCount(point.peak_bytes),
                          FixedText(point.relative_time, 3) + " times", FormatCount(point.segments),
                          point.method});
    if (pages) table.rows.back().push_back(PagedPhrase(point.paged));
  }
  return "  " + RecomputationText(*report.curve, report.planned_bytes) + "\n\n" + ToText(table) +
         "\n";
}

std::string ProcessText(const MemoryReport& report) {
  std::string text;
  for (const std::string& line : ProcessLines(report)) text += "  " + line + "\n";
  return text;
}

}  // namespace

std::string RecomputationText(const BudgetCurve& curve, std::int64_t planned_bytes) {
  const std::string means = curve.lines.size() > 1 ? " by recomputation and a page file, from "
                                                   : " by recomputation, from ";
  std::string text =
      planned_bytes < curve.kept_peak_bytes
          ? "down to " + FormatBytes(planned_bytes) + means + FormatBytes(curve.kept_peak_bytes)
          : FormatBytes(planned_bytes) + ", nothing computed again (" +
                FormatBytes(curve.kept_peak_bytes) + " with all kept)";
  text += "; floor " + FormatBytes(curve.floor_bytes);
  if (curve.floor_updates_in_backward) text += " with updates in the backward pass";
  const std::string holders = PurposesText(curve.at_floor, 3);
  return holders.empty() ? text : text + ", held by " + holders;
}

std::string MemoryText(const MemoryReport& report) {
  std::string text;
  for (const DeviceReport& device : report.devices) {
    const std::string name =
        report.devices.size() > 1 ? "Device " + std::to_string(device.device) + ", " : "";
    const auto add = [&](const std::optional<StepReport>& step, const char* how) {
      if (step) text += name + StepText(report, *step, how);
    };
    add(device.planned, "as planned");
    text += SideBySideText(device.side_by_side);
    add(device.planned_training, "as planned");
    add(device.measured, "as measured");
  }
  return text + CurveText(report) + AllocatorsText(report) + ProcessText(report);
}

}  // namespace frugal
