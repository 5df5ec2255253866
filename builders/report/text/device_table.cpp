#include "builders/report/text/device_table.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string Counted(std::int64_t count, const std::string& one) {
  return FormatCount(count) + " " + one + (count == 1 ? "" : "s");
}

std::string LayersOf(const DevicePlan& device) {
  return device.layers == 1 ? device.first_layer : device.first_layer + " to " + device.last_layer;
}

std::string ChartText(const DevicesPlan& plan, const PipelineTimes& times,
                      const std::string& title) {
  constexpr std::size_t kColumns = 84;
  const PipelineShares shares = SharesOf(times);
  std::string text = "  " + title + "\n";
  const std::vector<std::string> lines = PipelineChart(plan.schedule, times, kColumns);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string name = "stage " + std::to_string(i);
    name.resize(10, ' ');
    text += "  " + name + lines[i] + "\n";
  }
  return text + "  of its time devices work " + PercentText(shares.work) +
         ", wait for the slowest stage " + PercentText(shares.uneven) + ",\n" +
         "  and for the pipeline to fill and empty " + PercentText(shares.bubble) + "\n";
}

std::string PlannedChart(const DevicesPlan& plan) {
  return ChartText(plan, plan.times,
                   "A step of the pipeline, by the stages' work (1: forward of micro-batch 1, b: "
                   "backward" +
                       std::string(SplitsBackward(plan.schedule.kind) ? ", B: weights)" : ")"));
}

constexpr std::int64_t kMostCharted = 16;

}  // namespace

std::string MeshText(const DevicesPlan& plan) {
  std::string text = plan.replicas > 1 ? Counted(plan.replicas, "replica") + " of " : "";
  return text + Counted(plan.stages, "stage") + ", " + Counted(plan.threads, "thread") + " each; " +
         std::string(NameOf(plan.schedule.kind)) + " with " + FormatCount(plan.micro_batches) +
         (plan.micro_batches == 1 ? " micro-batch" : " micro-batches") +
         (plan.replicas > 1 ? " in each" : "");
}

namespace {

bool Pages(const DevicesPlan& plan) {
  return std::ranges::any_of(plan.devices,
                             [](const DevicePlan& device) { return device.page_file_bytes > 0; });
}

// A row of the table without the device's number.
std::vector<std::string> CellsOf(const DevicePlan& device, bool pages) {
  std::vector<std::string> cells = {
      Printable(LayersOf(device)), FormatCount(device.parameters), FormatCount(device.in_flight),
      FormatBytes(device.sent.Total().bytes), FormatBytes(device.peak_bytes)};
  if (pages) cells.push_back(FormatBytes(device.page_file_bytes));
  return cells;
}

std::string NumberText(const DevicesPlan& plan, std::size_t number) {
  std::string text = std::to_string(number);
  if (plan.replicas == 1) return text;
  return text + " (replica " + std::to_string(plan.devices[number].replica) + ")";
}

// Makes the rows: of many devices, those of one stage that come to the same share one.
std::vector<std::vector<std::string>> RowsOf(const DevicesPlan& plan) {
  constexpr std::size_t kAllShown = 16;
  const bool pages = Pages(plan);
  std::vector<std::vector<std::string>> rows;
  std::map<std::pair<std::int64_t, std::vector<std::string>>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    alike[{plan.devices[i].stage, CellsOf(plan.devices[i], pages)}].push_back(i);
  }
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    std::vector<std::string> cells = CellsOf(plan.devices[i], pages);
    const std::vector<std::size_t>& same = alike[{plan.devices[i].stage, cells}];
    const bool grouped = plan.devices.size() > kAllShown && same.size() > 1;
    if (grouped && same.front() != i) continue;
    const std::string number =
        grouped ? std::to_string(i) + " and " + FormatCount(std::ssize(same) - 1) + " alike"
                : NumberText(plan, i);
    cells.insert(cells.begin(), number);
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string SecondsText(double seconds) {
  return seconds < 0.1 ? FixedText(seconds * 1e3, 3) + " ms" : FixedText(seconds, 3) + " s";
}

std::string TrafficText(const Traffic& traffic) {
  return FormatCount(traffic.bytes) + " bytes in " + Counted(traffic.messages, "message");
}

}  // namespace

std::string DevicesText(const DevicesPlan& plan) {
  TextTable table;
  table.columns = {{"Device"},          {"layers"},      {"parameters", true},
                   {"in flight", true}, {"sends", true}, {"peak", true}};
  if (Pages(plan)) table.columns.push_back({"page file", true});
  table.flexible = 1;
  table.rows = RowsOf(plan);
  const bool charted = plan.stages > 1 && plan.stages <= kMostCharted;
  std::string links;
  if (plan.link_bytes > 0) {
    links = "  beside it the processes of this machine share " + FormatBytes(plan.link_bytes) +
            " to send to each other\n";
  }
  return ToText(table) + links + (charted ? "\n" + PlannedChart(plan) : "");
}

std::string MeasuredChartText(const DevicesPlan& plan, const PipelineTimes& times) {
  if (plan.stages == 1 || plan.stages > kMostCharted) return "";
  return ChartText(plan, times,
                   "The last step as it ran, " + SecondsText(times.Seconds()) +
                       " without sums over devices and the optimizer") +
         "\n";
}

std::string PredictionText(const DevicesPlan& plan, const MeshSpeed& speed) {
  const MeshPrediction step = PredictStep(plan, speed);
  return "  At " + FixedText(speed.flops / 1e9, 0) + " GFLOP/s a device, and links of " +
         FixedText(speed.bytes / 1e9, 1) + " GB/s and " + FixedText(speed.latency * 1e6, 1) +
         " us a message and " + FixedText(speed.call * 1e6, 1) +
         " us a kernel call, a step takes " + SecondsText(step.step) + ":\n  " +
         SecondsText(step.pipeline) + " in the pipeline (work " + PercentText(step.shares.work) +
         ", of which calls " + PercentText(step.calls) + ", waiting for the slowest stage " +
         PercentText(step.shares.uneven) + ", bubble " + PercentText(step.shares.bubble) +
         "),\n  " + SecondsText(std::ranges::max(step.exchange)) +
         " for sums over devices; bound by " + std::string(step.bound_by) + "\n";
}

std::string RankText(const DevicesPlan& plan, std::size_t rank, const MeshSpeed& speed) {
  const DevicePlan& device = plan.devices[rank];
  const MeshPrediction step = PredictStep(plan, speed);
  TextTable table;
  table.columns = {{"Rank " + std::to_string(rank)}, {""}};
  const auto add = [&](const std::string& name, const std::string& value) {
    table.rows.push_back({name, value});
  };
  add("place",
      "replica " + std::to_string(device.replica) + ", stage " + std::to_string(device.stage));
  add("layers", Printable(LayersOf(device)));
  add("parameters", FormatCount(device.parameters));
  add("micro-batches in flight", FormatCount(device.in_flight));
  for (const MemoryTag tag : kAllMemoryTags) {
    if (device.at_peak[tag] == 0) continue;
    add(std::string(NameOf(tag)) + " at its peak", FormatCount(device.at_peak[tag]) + " bytes");
  }
  add("peak", FormatCount(device.peak_bytes) + " bytes");
  if (device.page_file_bytes > 0) {
    add("page file", FormatCount(device.page_file_bytes) + " bytes");
  }
  add("to the next stage", TrafficText(device.sent.next));
  add("to the stage before", TrafficText(device.sent.previous));
  add("to its replica's stages", TrafficText(device.sent.pipeline));
  add("to other replicas", TrafficText(device.sent.data));
  add("computes", SecondsText(step.work[rank]) + " of " + SecondsText(step.step));
  add("sums with others", SecondsText(step.exchange[rank]));
  return ToText(table);
}

}  // namespace frugal
