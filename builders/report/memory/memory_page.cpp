#include "builders/report/memory/memory_page.h"

#include <algorithm>
#include <array>

#include "builders/report/html/html.h"
#include "builders/report/html/memory_chart.h"
#include "builders/report/html/svg_chart.h"
#include "builders/report/memory/arena_map.h"
#include "builders/report/memory/memory_text.h"
#include "builders/report/memory/memory_words.h"
#include "builders/report/rows/plan_phrases.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr std::size_t kMostShares = 40;
constexpr std::size_t kMostBlocks = 60;

constexpr std::string_view kOwnStyle = R"css(
svg.map { border: 1px solid #d9dee4; cursor: grab; touch-action: none; }
svg.map rect { stroke: #fff; stroke-width: 0.15; }
svg.map rect.ground { fill: #f6f8fa; stroke: none; }
svg.map rect:hover { fill-opacity: 0.6; }
path[class^="curve"] { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
path.curve0 { stroke: #2f5f98; }
path.curve1 { stroke: #2b7a3d; }
path.curve2 { stroke: #b54708; }
path.curve3 { stroke: #6941c6; }
path.curve4 { stroke: #b42318; }
path.curve5 { stroke: #0e7090; }
circle.curve0, .legend i.curve0 { fill: #2f5f98; background: #2f5f98; }
circle.curve1, .legend i.curve1 { fill: #2b7a3d; background: #2b7a3d; }
circle.curve2, .legend i.curve2 { fill: #b54708; background: #b54708; }
circle.curve3, .legend i.curve3 { fill: #6941c6; background: #6941c6; }
circle.curve4, .legend i.curve4 { fill: #b42318; background: #b42318; }
circle.curve5, .legend i.curve5 { fill: #0e7090; background: #0e7090; }
)css";

std::string Section(const std::string& title, const std::string& body) {
  return body.empty() ? ""
                      : "<section>\n<h2>" + EscapeHtml(title) + "</h2>\n" + body + "</section>\n";
}

std::string Paragraphs(const std::vector<std::string>& lines) {
  std::string html;
  for (const std::string& line : lines) html += "<p>" + EscapeHtml(line) + "</p>\n";
  return html;
}

// The shares are those of the report's layers, where it is given.
std::string SharesTable(const std::string& title, const std::vector<MemoryShare>& shares,
                        std::int64_t total, const MemoryReport* report = nullptr) {
  HtmlTable table;
  table.columns = {{title}, {"bytes", true}, {"", true}, {"share", true}, {"blocks", true}};
  table.last_is_total = true;
  std::int64_t bytes = 0;
  for (const MemoryShare& share : Shortened(shares, kMostShares)) {
    const double part =
        total > 0 ? static_cast<double>(share.bytes) / static_cast<double>(total) : 0;
    table.rows.push_back({{share.name},
                          {FormatCount(share.bytes)},
                          {FormatBytes(share.bytes)},
                          {PercentText(part), "share", part},
                          {FormatCount(share.blocks)}});
    if (report != nullptr) table.rows.back().push_back({LayerText(*report, share.name)});
    bytes += share.bytes;
  }
  table.rows.push_back({{"all together"}, {FormatCount(bytes)}, {FormatBytes(bytes)}, {""}, {""}});
  if (report != nullptr) {
    table.columns.push_back({"what it is"});
    table.rows.back().push_back({""});
  }
  return ToHtml(table);
}

std::string TensorsTable(const StepMemory& memory) {
  HtmlTable table;
  table.columns = {{"largest at the peak"}, {"", true}, {"purpose"}, {"tensor"}, {"made by"},
                   {"last needed by"}};
  for (std::size_t i = 0; i < std::min(kMostBlocks, memory.blocks.size()); ++i) {
    const HeldBlock& block = memory.blocks[i];
    table.rows.push_back({{block.holder},
                          {FormatBytes(block.bytes)},
                          {std::string(NameOf(block.tag))},
                          {FormText(block)},
                          {MakerText(block)},
                          {LastUseText(block)}});
  }
  return ToHtml(table);
}

std::string StepSection(const MemoryReport& report, const std::string& title,
                        const StepReport& step, const MemoryTimeline* over) {
  const StepMemory& memory = step.memory;
  std::string body = "<p>Peak " + FormatBytes(memory.peak_bytes) + " (" +
                     FormatCount(memory.peak_bytes) + " bytes)" +
                     EscapeHtml(PeakMomentText(memory)) + ".</p>\n";
  if (!memory.timeline.live.empty() && memory.peak_bytes > 0) {
    body += LiveMemoryChart(memory.baseline, memory.timeline, over);
  }
  body += Paragraphs(StepLines(memory)) + ArenaMap(memory);
  body += SharesTable("by kind of operation", SharesByKind(memory), memory.peak_bytes);
  body += SharesTable("by layer", SharesByLayer(memory), memory.peak_bytes, &report);
  body += SharesTable("by purpose", SharesByPurpose(memory), memory.peak_bytes);
  return Section(title + step.name, body + TensorsTable(memory));
}

std::string DeviceSections(const MemoryReport& report, const DeviceReport& device) {
  const std::string name =
      report.devices.size() > 1 ? "Device " + std::to_string(device.device) + ": " : std::string();
  std::string html;
  const auto add = [&](const std::optional<StepReport>& step, const char* how, bool is_planned) {
    if (!step) return;
    // A measured step of the kind is drawn over the planned one.
    const bool drawn = is_planned && device.measured && step->name == device.measured->name;
    html +=
        StepSection(report, name + how, *step, drawn ? &device.measured->memory.timeline : nullptr);
  };
  add(device.planned, "as planned, ", true);
  std::vector<std::string> lines;
  for (const SimultaneousBuffers& one : device.side_by_side) lines.push_back(SideBySideLine(one));
  html += Section(name + "side by side at the peak; an update in place would save one of each",
                  Paragraphs(lines));
  add(device.planned_training, "as planned, ", true);
  add(device.measured, "as measured, ", false);
  return html;
}

// The choices of what lies in a page file, in the order in which the planner has them.
constexpr std::array<std::string_view, 6> kCurveClasses = {"curve0", "curve1", "curve2",
                                                           "curve3", "curve4", "curve5"};

void DrawLine(SvgChart& chart, const std::vector<BudgetPoint>& line, std::size_t number) {
  std::vector<Point> points;
  std::vector<std::string> texts;
  for (const BudgetPoint& point : line) {
    points.push_back({point.relative_time, static_cast<double>(point.peak_bytes)});
    texts.push_back(FormatBytes(point.peak_bytes) + ", " + FixedText(point.relative_time, 3) +
                    " times the time, " + FormatCount(point.segments) + " segments, " +
                    PagedPhrase(point.paged) + " in the page file");
  }
  const std::string_view style_class = kCurveClasses.at(number % kCurveClasses.size());
  chart.Line(points, style_class);
  chart.Dots(points, texts, style_class);
}

std::string CurveLegend(const BudgetCurve& curve) {
  if (curve.lines.size() < 2) return "";
  std::string html = "<p class=\"legend\">";
  for (std::size_t i = 0; i < curve.lines.size(); ++i) {
    html += "<span><i class=\"" + std::string(kCurveClasses.at(i % kCurveClasses.size())) +
            "\"></i>" + PagedPhrase(curve.lines[i].back().paged) + " in the page file</span>";
  }
  return html + "</p>\n";
}

std::string CurveSection(const MemoryReport& report) {
  if (!report.curve) return "";
  const BudgetCurve& curve = *report.curve;
  double slowest = 1;
  for (const auto& line : curve.lines) {
    for (const BudgetPoint& point : line) slowest = std::max(slowest, point.relative_time);
  }
  SvgChart chart({.x = ValueAxis(1, slowest, "predicted time of passes, times that of keeping all"),
                  .y = BytesAxis(1.05 * static_cast<double>(curve.kept_peak_bytes), "peak"),
                  .height = 320,
                  .left = 72});
  for (std::size_t i = 0; i < curve.lines.size(); ++i) DrawLine(chart, curve.lines[i], i);
  const bool pages = curve.lines.size() > 1;
  return Section(pages ? "What recomputation and a page file can do" : "What recomputation can do",
                 "<p>" + EscapeHtml(RecomputationText(curve, report.planned_bytes)) + "</p>\n" +
                     CurveLegend(curve) +
                     chart.Finish("Peak against predicted time, for budgets between"));
}

std::string GrowthSection(const MemoryReport& report) {
  if (report.growth.size() < 2) return Section("The process", Paragraphs(ProcessLines(report)));
  std::vector<Point> live, resident;
  double high = 0;
  for (const MemoryAfterStep& after : report.growth) {
    live.push_back({static_cast<double>(after.step), static_cast<double>(after.live_bytes)});
    resident.push_back(
        {static_cast<double>(after.step), static_cast<double>(after.resident_bytes)});
    high = std::max({high, live.back().y, resident.back().y});
  }
  SvgChart chart({.x = CountAxis(live.front().x, live.back().x, "step"),
                  .y = BytesAxis(1.1 * high, "behind the step"),
                  .left = 72});
  chart.Line(live, "loss");
  chart.Line(resident, "measured");
  return Section("Growth over steps, and the process",
                 "<p class=\"legend\"><span><i class=\"loss-key\"></i>live tensors</span><span><i "
                 "class=\"measured-key\"></i>resident memory of the process</span></p>\n" +
                     chart.Finish("Live and resident memory behind each step") +
                     Paragraphs(ProcessLines(report)));
}

std::string AllocatorSection(const MemoryReport& report) {
  HtmlTable table;
  table.columns = {{"allocator"}};
  for (const DeviceReport& device : report.devices) {
    if (!device.now) continue;
    table.columns.push_back({"device " + std::to_string(device.device), true});
    const auto values = NamedValues(device.now->allocator);
    table.rows.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (table.rows[i].empty()) table.rows[i].push_back({std::string(values[i].first)});
      table.rows[i].push_back({FormatCount(values[i].second)});
    }
  }
  return table.rows.empty() ? "" : Section("Allocators", ToHtml(table));
}

}  // namespace

std::string MemoryPage(const MemoryReport& report) {
  const std::string name = EscapeHtml(report.model);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      name + " - memory</title>\n<style>" + std::string(ReportStyle()) + std::string(kOwnStyle) +
      "</style>\n</head>\n<body>\n<h1>" + name + ": who holds the memory</h1>\n";
  for (const DeviceReport& device : report.devices) {
    html += DeviceSections(report, device);
  }
  return html + CurveSection(report) + GrowthSection(report) + AllocatorSection(report) +
         "<script>" + std::string(ZoomScript()) + "</script>\n</body>\n</html>\n";
}

}  // namespace frugal
