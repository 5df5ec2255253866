#include <algorithm>

#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr double kWidth = 960, kNames = 70, kRow = 26, kBar = 20;

std::string Number(double value) { return FixedText(value, 2); }

const char* ColorOf(SlotKind kind) {
  switch (kind) {
    case SlotKind::kForward:
      return "#4477aa";
    case SlotKind::kBackward:
    case SlotKind::kInputGradient:
      return "#cc6677";
    case SlotKind::kWeightGradient:
      return "#ddaa33";
  }
  return "#888888";
}

std::string Describe(const PipelineSlot& slot) {
  const std::string of = " of micro-batch " + std::to_string(slot.micro_batch);
  switch (slot.kind) {
    case SlotKind::kForward:
      return "forward" + of;
    case SlotKind::kBackward:
      return "backward" + of;
    case SlotKind::kInputGradient:
      return "gradients of inputs" + of;
    case SlotKind::kWeightGradient:
      return "gradients of weights" + of;
  }
  return "";
}

// Draws a step, a row for each stage and a rectangle for each slot; waiting is left white.
std::string ScheduleChart(const PipelineSchedule& schedule, const PipelineTimes& times) {
  const double height = kRow * static_cast<double>(schedule.stages.size());
  const double scale = (kWidth - kNames) / std::max(1e-12, times.Seconds());
  std::string svg = "<svg viewBox=\"0 0 " + Number(kWidth) + " " + Number(height) +
                    "\" role=\"img\" aria-label=\"the slots of a step\">\n";
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    const double top = kRow * static_cast<double>(stage);
    svg += "<text x=\"0\" y=\"" + Number(top + kBar * 0.75) + "\" font-size=\"13\">stage " +
           std::to_string(stage) + "</text>\n";
    for (std::size_t i = 0; i < schedule.stages[stage].size(); ++i) {
      const PipelineSlot& slot = schedule.stages[stage][i];
      const SlotTime& time = times.slots[stage][i];
      svg += "<rect x=\"" + Number(kNames + time.begin * scale) + "\" y=\"" + Number(top) +
             "\" width=\"" + Number(std::max(0.5, (time.end - time.begin) * scale)) +
             "\" height=\"" + Number(kBar) + "\" fill=\"" + ColorOf(slot.kind) +
             "\" stroke=\"#ffffff\" stroke-width=\"0.5\"><title>" + EscapeHtml(Describe(slot)) +
             "</title></rect>\n";
    }
  }
  return svg + "</svg>\n";
}

std::string SharesText(const PipelineTimes& times) {
  const PipelineShares shares = SharesOf(times);
  return "Devices work " + PercentText(shares.work) + " of the time, wait for the slowest stage " +
         PercentText(shares.uneven) + ", and for the pipeline to fill and empty " +
         PercentText(shares.bubble) + ".";
}

std::string DevicesTable(const ReportData& data, const DevicesPlan& plan) {
  HtmlTable table;
  table.columns = {{"device"},
                   {"replica", true},
                   {"layers"},
                   {"parameters", true},
                   {"in flight", true},
                   {"planned bytes", true},
                   {"measured bytes", true},
                   {"sends a step", true}};
  if (data.plan().paging) table.columns.push_back({"page file", true});
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const DevicePlan& device = plan.devices[i];
    const std::int64_t measured = data.result.memory.devices[i].peak_bytes;
    table.rows.push_back(
        {{std::to_string(i)},
         {std::to_string(device.replica)},
         {device.first_layer + " to " + device.last_layer},
         {FormatCount(device.parameters)},
         {FormatCount(device.in_flight)},
         {FormatCount(device.peak_bytes)},
         {FormatCount(measured), measured == device.peak_bytes ? "equal" : "unequal"},
         {FormatBytes(device.sent.Total().bytes)}});
    if (data.plan().paging) table.rows.back().push_back({FormatBytes(device.page_file_bytes)});
  }
  return ToHtml(table);
}

}  // namespace

std::string DevicesSection(const ReportData& data) {
  const std::optional<DevicesPlan>& plan = data.plan().devices;
  if (!plan || data.result.memory.devices.size() != plan->devices.size()) return "";
  std::string html = "<section>\n<h2>Devices</h2>\n" + DevicesTable(data, *plan);
  if (plan->stages > 1) {
    html += "<p>The planned step (" + std::string(NameOf(plan->schedule.kind)) +
            "): forward blue, backward red, gradients of weights apart yellow. " +
            SharesText(plan->times) + "</p>\n" + ScheduleChart(plan->schedule, plan->times);
  }
  if (plan->stages > 1 && data.result.pipeline) {
    const PipelineTimes& ran = *data.result.pipeline;
    html += "<p>The last whole step as it ran, " + FixedText(ran.Seconds() * 1e3, 1) + " ms. " +
            SharesText(ran) + "</p>\n" + ScheduleChart(plan->schedule, ran);
  }
  return html + "</section>\n";
}

}  // namespace frugal
