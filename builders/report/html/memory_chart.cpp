#include "builders/report/html/memory_chart.h"

#include <algorithm>
#include <array>

#include "builders/report/html/downsample.h"
#include "builders/report/html/html.h"
#include "builders/report/html/svg_chart.h"
#include "builders/report/rows/step_choice.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr std::size_t kMostEvents = 800;
constexpr std::size_t kMostHolders = 12;

// From what stays longest at the bottom to what comes and goes at the top.
constexpr auto kBottomToTop = std::to_array<MemoryTag>(
    {MemoryTag::kData, MemoryTag::kSnapshot, MemoryTag::kPaging, MemoryTag::kParameter,
     MemoryTag::kGradient, MemoryTag::kOptimizerState, MemoryTag::kCommunication,
     MemoryTag::kActivation, MemoryTag::kWorkspace});
static_assert(kBottomToTop.size() == kMemoryTagCount);

// The events of a timeline that are drawn, with what is live from each on.
struct DrawnTimeline {
  std::vector<double> at;  // event numbers from 0, ascending
  std::vector<BytesByTag> live;
  double end = 0;
};

std::vector<double> TotalsOf(const MemoryTimeline& timeline) {
  std::vector<double> totals;
  for (const BytesByTag& live : timeline.live) totals.push_back(static_cast<double>(live.Total()));
  return totals;
}

DrawnTimeline Draw(const MemoryTimeline& timeline, const BytesByTag& baseline) {
  std::vector<std::size_t> events = IndicesToDraw(TotalsOf(timeline), kMostEvents);
  if (timeline.peak_event < timeline.live.size()) {
    const auto place = std::ranges::lower_bound(events, timeline.peak_event);
    if (place == events.end() || *place != timeline.peak_event) {
      events.insert(place, timeline.peak_event);
    }
  }
  DrawnTimeline drawn;
  drawn.end = static_cast<double>(timeline.live.size());
  for (const std::size_t event : events) {
    drawn.at.push_back(static_cast<double>(event));
    drawn.live.push_back(timeline.live[event]);
    for (const MemoryTag tag : kAllMemoryTags) drawn.live.back()[tag] += baseline[tag];
  }
  return drawn;
}

// Heights as a line of steps: what holds from one event holds until the next.
std::vector<Point> StepLine(const DrawnTimeline& drawn, const std::vector<double>& heights) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    points.push_back({drawn.at[i], heights[i]});
    points.push_back({i + 1 < heights.size() ? drawn.at[i + 1] : drawn.end, heights[i]});
  }
  return points;
}

void DrawStack(const DrawnTimeline& drawn, SvgChart& chart) {
  std::vector<double> heights(drawn.live.size(), 0.0);
  for (const MemoryTag tag : kBottomToTop) {
    const std::vector<Point> lower = StepLine(drawn, heights);
    std::int64_t most = 0;
    for (std::size_t i = 0; i < heights.size(); ++i) {
      heights[i] += static_cast<double>(drawn.live[i][tag]);
      most = std::max(most, drawn.live[i][tag]);
    }
    if (most == 0) continue;
    chart.Area(lower, StepLine(drawn, heights), ColourOf(tag),
               std::string(NameOf(tag)) + ", up to " + FormatBytes(most));
  }
}

std::vector<double> TotalsOf(const DrawnTimeline& drawn) {
  std::vector<double> totals;
  for (const BytesByTag& live : drawn.live) totals.push_back(static_cast<double>(live.Total()));
  return totals;
}

std::string Legend(const BytesByTag& baseline, const MemoryTimeline& timeline, bool has_measured) {
  BytesByTag most = baseline;
  for (const MemoryTag tag : kAllMemoryTags) {
    std::int64_t peak = 0;
    for (const BytesByTag& live : timeline.live) peak = std::max(peak, live[tag]);
    most[tag] += peak;
  }
  std::string html = "<p class=\"legend\">";
  for (auto tag = kBottomToTop.rbegin(); tag != kBottomToTop.rend(); ++tag) {
    if (most[*tag] == 0) continue;
    html += "<span><i style=\"background:" + ColourOf(*tag) + "\"></i>" +
            std::string(NameOf(*tag)) + " <b>" + FormatBytes(most[*tag]) + "</b></span>";
  }
  if (has_measured) html += "<span><i class=\"measured-key\"></i>measured, all together</span>";
  return html + "</p>\n";
}

void MarkPeak(std::size_t event, std::int64_t bytes, SvgChart& chart) {
  const Point peak = {static_cast<double>(event) + 0.5, static_cast<double>(bytes)};
  chart.VerticalLine(peak.x, "peak");
  const bool is_right = chart.frame().x.ShareOf(peak.x) > 0.6;
  chart.Text({peak.x, chart.frame().y.high}, is_right ? -8 : 8, "peak " + FormatBytes(bytes),
             "value");
}

// Says what the layer with this label is, or the one that it lies in.
std::string DescriptionOf(const std::string& label, const std::vector<LayerPlan>& layers) {
  for (const LayerPlan& layer : layers) {
    if (label == layer.path) return layer.description;
    if (label.starts_with(layer.path + ".")) return "in " + layer.description;
  }
  return "";
}

std::string HoldersTable(const StepPlan& step, const std::vector<LayerPlan>& layers) {
  const std::vector<Holder> holders = HoldersOf(step);
  const std::int64_t total = PeakBytesOf(step);
  HtmlTable table;
  table.columns = {
      {"held at the peak by"}, {"layer"}, {"purpose"}, {"bytes", true}, {"share", true}};
  table.last_is_total = true;
  std::int64_t rest = total;
  const auto add = [&](std::string label, std::string purpose, std::int64_t bytes) {
    const double share = static_cast<double>(bytes) / static_cast<double>(total);
    std::string layer = DescriptionOf(label, layers);
    table.rows.push_back({{std::move(label)},
                          {std::move(layer)},
                          {std::move(purpose)},
                          {FormatBytes(bytes)},
                          {PercentText(share), "share", share}});
  };
  for (std::size_t i = 0; i < std::min(kMostHolders, holders.size()); ++i) {
    add(holders[i].label, std::string(NameOf(holders[i].tag)), holders[i].bytes);
    rest -= holders[i].bytes;
  }
  if (holders.size() > kMostHolders) {
    const auto count = static_cast<std::int64_t>(holders.size() - kMostHolders);
    add(FormatCount(count) + (count == 1 ? " other" : " others"), "", rest);
  }
  table.rows.push_back({{"all together"}, {""}, {""}, {FormatBytes(total)}, {""}});
  return ToHtml(table);
}

// How far the measured step is the planned one, event by event.
std::string AgreementText(const MemoryTimeline& planned, const MemoryTimeline& measured) {
  const std::size_t events = std::max(planned.live.size(), measured.live.size());
  const std::size_t common = std::min(planned.live.size(), measured.live.size());
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < common; ++i) equal += planned.live[i] == measured.live[i] ? 1 : 0;
  return "<p>Measured in one step: " + FormatCount(equal) + " of " +
         FormatCount(static_cast<std::int64_t>(events)) +
         " events are, by purpose and to the byte, as planned.</p>\n";
}

// Returns the words that say where the run peaks, if not in the step that is drawn.
std::string OtherPeakText(const Plan& plan, const StepPlan& drawn) {
  if (plan.steps.empty() || plan.peak_bytes <= PeakBytesOf(drawn)) return "";
  const StepPlan& highest = *std::ranges::max_element(plan.steps, {}, PeakBytesOf);
  std::string text = "<p>The whole run peaks at " + FormatBytes(plan.peak_bytes);
  if (&highest != &drawn && PeakBytesOf(highest) == plan.peak_bytes) {
    text += ", in its " + std::string(NameOf(highest.kind)) + " steps of " +
            FormatCount(highest.batch) + " samples";
  }
  return text + ".</p>\n";
}

}  // namespace

std::string ColourOf(MemoryTag tag) {
  constexpr auto kColours =
      std::to_array<const char*>({"#4e79a7", "#f28e2b", "#b07aa1", "#59a14f", "#edc948", "#9c755f",
                                  "#bab0ac", "#76b7b2", "#e15759"});
  static_assert(kColours.size() == kMemoryTagCount);
  return kColours[static_cast<std::size_t>(tag)];
}

std::string LiveMemoryChart(const BytesByTag& baseline, const MemoryTimeline& timeline,
                            const MemoryTimeline* measured) {
  const DrawnTimeline planned = Draw(timeline, baseline);
  std::int64_t peak = baseline.Total();
  if (timeline.peak_event < timeline.live.size())
    peak += timeline.live[timeline.peak_event].Total();
  double events = planned.end;
  if (measured) events = std::max(events, static_cast<double>(measured->live.size()));
  // Room at the top for the peak's label.
  const double high = 1.1 * static_cast<double>(peak);
  SvgChart chart({.x = CountAxis(0, events, "memory taken and given back, in order of execution"),
                  .y = BytesAxis(high, "live bytes"),
                  .height = 360,
                  .left = 72});
  DrawStack(planned, chart);
  if (measured) {
    const DrawnTimeline drawn = Draw(*measured, baseline);
    chart.Line(StepLine(drawn, TotalsOf(drawn)), "measured");
  }
  MarkPeak(timeline.peak_event, peak, chart);
  std::string html = Legend(baseline, timeline, measured != nullptr) +
                     chart.Finish("Live memory over one step, by purpose");
  if (timeline.shortens_loops) {
    html +=
        "<p>Three turns are drawn of a loop of many equal ones, as the parts of a batch are: the "
        "first, the second for all up to the last, and the last.</p>\n";
  }
  return html;
}

std::string StepMemorySection(const ReportData& data) {
  std::string html = "<section>\n<h2>Memory over one training step</h2>\n";
  const StepPlan* step = MainStepOf(data.plan(), data.schedule().batch);
  if (step == nullptr || step->timeline.live.empty() || PeakBytesOf(*step) == 0) {
    return html + "<p>No step takes any memory.</p>\n</section>\n";
  }
  const auto& measured = data.result.measured_timeline;
  const bool has_measured = measured && !measured->live.empty();
  html += LiveMemoryChart(step->baseline, step->timeline, has_measured ? &*measured : nullptr);
  if (has_measured) html += AgreementText(step->timeline, *measured);
  html += OtherPeakText(data.plan(), *step);
  return html + HoldersTable(*step, data.plan().layers) + "</section>\n";
}

}  // namespace frugal
