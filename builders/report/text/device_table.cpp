#include "builders/report/text/device_table.h"

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

std::string ChartText(const DevicesPlan& plan) {
  constexpr std::size_t columns = 84;
  const PipelineShares shares = SharesOf(plan.times);
  std::string text =
      "  A step of the pipeline, by the stages' work (1: forward of micro-batch 1, b: backward" +
      std::string(SplitsBackward(plan.schedule.kind) ? ", B: its weights" : "") + ")\n";
  const std::vector<std::string> lines = PipelineChart(plan.schedule, plan.times, columns);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string name = "stage " + std::to_string(i);
    name.resize(10, ' ');
    text += "  " + name + lines[i] + "\n";
  }
  return text + "  of its time devices work " + PercentText(shares.work) +
         ", wait for the slowest stage " + PercentText(shares.uneven) + ",\n" +
         "  and for the pipeline to fill and empty " + PercentText(shares.bubble) + "\n";
}

}  // namespace

std::string MeshText(const DevicesPlan& plan) {
  std::string text = plan.replicas > 1 ? Counted(plan.replicas, "replica") + " of " : "";
  return text + Counted(plan.stages, "stage") + ", " + Counted(plan.threads, "thread") + " each; " +
         std::string(NameOf(plan.schedule.kind)) + " with " + FormatCount(plan.micro_batches) +
         (plan.micro_batches == 1 ? " micro-batch" : " micro-batches") +
         (plan.replicas > 1 ? " in each" : "");
}

std::string DevicesText(const DevicesPlan& plan) {
  TextTable table;
  table.columns = {{"Device"},          {"layers"},      {"parameters", true},
                   {"in flight", true}, {"sends", true}, {"peak", true}};
  table.flexible = 1;
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const DevicePlan& device = plan.devices[i];
    table.rows.push_back(
        {std::to_string(i) +
             (plan.replicas > 1 ? " (replica " + std::to_string(device.replica) + ")" : ""),
         Printable(LayersOf(device)), FormatCount(device.parameters), FormatCount(device.in_flight),
         FormatBytes(device.sent.bytes), FormatBytes(device.peak_bytes)});
  }
  return ToText(table) + (plan.stages > 1 ? "\n" + ChartText(plan) : "");
}

}  // namespace frugal
