#include "builders/report/memory/memory_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "builders/report/html/downsample.h"
#include "builders/report/json/named_bytes.h"
#include "builders/report/memory/memory_words.h"
#include "builders/report/rows/plan_phrases.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

Json JsonOf(const std::vector<MemoryShare>& shares) {
  Json list = Json::array();
  for (const MemoryShare& share : shares) {
    list.push_back({{"name", share.name},
                    {"bytes", share.bytes},
                    {"blocks", share.blocks},
                    {"holders", share.layers}});
  }
  return list;
}

Json JsonOf(const std::optional<NamedOperation>& operation) {
  if (!operation) return nullptr;
  return {{"layer", operation->layer},
          {"kind", std::string(NameOf(operation->kind))},
          {"backward", operation->backward},
          {"again", operation->recomputed}};
}

Json JsonOf(const HeldBlock& block) {
  Json json = {{"holder", block.holder},
               {"purpose", std::string(NameOf(block.tag))},
               {"bytes", block.bytes}};
  if (block.form) {
    const auto extents = block.form->shape.extents();
    json["dtype"] = std::string(NameOf(block.form->dtype));
    json["shape"] = std::vector<std::int64_t>(extents.begin(), extents.end());
  }
  json["before_step"] = block.before_step;
  json["made_by"] = JsonOf(block.made_by);
  json["last_needed_by"] = JsonOf(block.last_needed);
  return json;
}

Json TimelineJson(const StepMemory& memory, std::size_t most) {
  std::vector<double> totals;
  for (const BytesByTag& live : memory.timeline.live) {
    totals.push_back(static_cast<double>(live.Total()));
  }
  std::vector<std::size_t> events = IndicesToDraw(totals, most);
  if (!totals.empty() && std::ranges::find(events, memory.timeline.peak_event) == events.end()) {
    events.push_back(memory.timeline.peak_event);
    std::ranges::sort(events);
  }
  Json numbers = Json::array(), bytes = Json::array();
  for (const std::size_t event : events) {
    numbers.push_back(event);
    bytes.push_back(memory.baseline.Total() + memory.timeline.live[event].Total());
  }
  return {{"events", totals.size()}, {"event", numbers}, {"live_bytes", bytes}};
}

Json JsonOf(const std::optional<StepReport>& step, const MemoryJsonOptions& options) {
  if (!step) return nullptr;
  const StepMemory& memory = step->memory;
  Json tensors = Json::array();
  for (std::size_t i = 0; i < std::min(options.most_tensors, memory.blocks.size()); ++i) {
    tensors.push_back(JsonOf(memory.blocks[i]));
  }
  return {{"step", step->name},
          {"peak_bytes", memory.peak_bytes},
          {"peak_event", memory.timeline.peak_event},
          {"before_step_bytes", memory.baseline.Total()},
          {"behind_step_bytes", memory.end_bytes},
          {"by_purpose", NamedBytes(memory.at_peak)},
          {"by_kind", JsonOf(SharesByKind(memory))},
          {"by_layer", JsonOf(SharesByLayer(memory))},
          {"blocks", memory.blocks.size()},
          {"largest", tensors},
          {"arena_bytes", memory.arena_bytes},
          {"arena_lower_bound_bytes", memory.arena_lower_bound_bytes},
          {"timeline", TimelineJson(memory, options.most_events)}};
}

Json JsonOf(const std::optional<DeviceMemory>& now) {
  if (!now) return nullptr;
  Json allocator, live = Json::array();
  for (const auto& [name, value] : NamedValues(now->allocator)) {
    allocator[std::string(name)] = value;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(100, now->live.size()); ++i) {
    live.push_back({{"holder", now->live[i].label},
                    {"purpose", std::string(NameOf(now->live[i].tag))},
                    {"bytes", now->live[i].bytes}});
  }
  return {{"allocator", allocator}, {"live", live}};
}

Json JsonOf(const DeviceReport& device, const MemoryJsonOptions& options) {
  Json side = Json::array();
  for (const SimultaneousBuffers& one : device.side_by_side) {
    side.push_back({{"holder", one.label},
                    {"purpose", std::string(NameOf(one.tag))},
                    {"bytes", one.bytes},
                    {"count", one.count}});
  }
  return {{"device", device.device},
          {"planned", JsonOf(device.planned, options)},
          {"planned_training", JsonOf(device.planned_training, options)},
          {"measured", JsonOf(device.measured, options)},
          {"side_by_side", side},
          {"now", JsonOf(device.now)}};
}

Json JsonOf(const std::vector<BudgetPoint>& points) {
  Json all = Json::array();
  for (const BudgetPoint& point : points) {
    all.push_back({{"peak_bytes", point.peak_bytes},
                   {"relative_time", point.relative_time},
                   {"segments", point.segments},
                   {"method", point.method},
                   {"page_file", PagedPhrase(point.paged)}});
  }
  return all;
}

Json JsonOf(const std::optional<BudgetCurve>& curve) {
  if (!curve) return nullptr;
  Json lines = Json::array();
  for (const auto& line : curve->lines) lines.push_back(JsonOf(line));
  return {{"kept_peak_bytes", curve->kept_peak_bytes},
          {"floor_bytes", curve->floor_bytes},
          {"floor_by_purpose", NamedBytes(curve->at_floor)},
          {"floor_updates_in_backward", curve->floor_updates_in_backward},
          {"points", JsonOf(curve->points)},
          {"lines", lines}};
}

}  // namespace

std::string MemoryJson(const MemoryReport& report, const MemoryJsonOptions& options) {
  Json devices = Json::array(), growth = Json::array();
  for (const DeviceReport& device : report.devices) devices.push_back(JsonOf(device, options));
  for (const MemoryAfterStep& after : report.growth) {
    growth.push_back({{"step", after.step},
                      {"live_bytes", after.live_bytes},
                      {"resident_bytes", after.resident_bytes}});
  }
  Json process;
  if (report.process) {
    process = {{"resident_bytes", report.process->resident_bytes},
               {"peak_resident_bytes", report.process->peak_resident_bytes},
               {"reserved_bytes", report.process->reserved_bytes},
               {"other_bytes", report.process->OtherBytes()}};
  }
  const Json json = {{"form", "frugal memory report 1"},
                     {"model", report.model},
                     {"planned_bytes", report.planned_bytes},
                     {"devices", devices},
                     {"recomputation", JsonOf(report.curve)},
                     {"process", process},
                     {"growth", growth}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace frugal
