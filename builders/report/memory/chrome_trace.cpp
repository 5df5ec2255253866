#include "builders/report/memory/chrome_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicroseconds = 1e6;

// One step's events in a process of their own.
class StepTrace {
 public:
  StepTrace(int process, bool is_timed, const StepMemory& memory, Json& events)
      : process_(process), is_timed_(is_timed), memory_(memory), events_(events) {}

  void Write(const std::string& name) {
    Add({{"ph", "M"}, {"name", "process_name"}, {"args", {{"name", name}}}});
    Add({{"ph", "M"}, {"name", "thread_name"}, {"tid", 1}, {"args", {{"name", "operations"}}}});
    Count(0, memory_.baseline);
    std::size_t event = 0;
    for (std::size_t i = 0; i < memory_.operations.size(); ++i) {
      const StepOperation& operation = memory_.operations[i];
      CountUpTo(static_cast<std::size_t>(operation.event), BeginOf(i), event);
      WriteOperation(operation, BeginOf(i), LengthOf(i));
    }
    const double end = memory_.operations.empty() ? 0
                                                  : BeginOf(memory_.operations.size() - 1) +
                                                        LengthOf(memory_.operations.size() - 1);
    CountUpTo(memory_.timeline.live.size(), end, event);
  }

 private:
  double BeginOf(std::size_t i) const {
    const StepOperation& operation = memory_.operations[i];
    return is_timed_ ? operation.begin * kMicroseconds
                     : static_cast<double>(operation.event) + static_cast<double>(i);
  }
  double LengthOf(std::size_t i) const {
    return is_timed_ ? memory_.operations[i].seconds * kMicroseconds : 1;
  }

  void WriteOperation(const StepOperation& operation, double begin, double length) {
    Add({{"ph", "X"},
         {"name", operation.name.layer + " " + std::string(NameOf(operation.name.kind))},
         {"cat", operation.name.recomputed ? "again"
                 : operation.name.backward ? "backward"
                                           : "forward"},
         {"ts", begin},
         {"dur", length},
         {"tid", 1},
         {"args",
          {{"layer", operation.name.layer},
           {"kind", std::string(NameOf(operation.name.kind))},
           {"flops", operation.flops},
           {"bytes", operation.bytes},
           {"live_bytes", operation.live_bytes}}}});
  }

  // Events between two operations come between their times; a planned step has room for
  // each event, a measured one shows the highest and the last.
  void CountUpTo(std::size_t end, double time, std::size_t& event) {
    const auto& live = memory_.timeline.live;
    end = std::min(end, live.size());
    if (event >= end) return;
    const auto highest = std::max_element(
        live.begin() + static_cast<std::ptrdiff_t>(event),
        live.begin() + static_cast<std::ptrdiff_t>(end),
        [](const BytesByTag& a, const BytesByTag& b) { return a.Total() < b.Total(); });
    const double before = is_timed_ ? time : time - static_cast<double>(end - event);
    CountLive(before, *highest);
    CountLive(time, live[end - 1]);
    event = end;
  }
  void CountLive(double time, BytesByTag live) {
    for (const MemoryTag tag : kAllMemoryTags) live[tag] += memory_.baseline[tag];
    Count(time, live);
  }
  void Count(double time, const BytesByTag& bytes) {
    Json counts;
    for (const MemoryTag tag : kAllMemoryTags) counts[std::string(NameOf(tag))] = bytes[tag];
    Add({{"ph", "C"}, {"name", "live bytes"}, {"ts", time}, {"tid", 0}, {"args", counts}});
  }

  void Add(Json event) {
    event["pid"] = process_;
    events_.push_back(std::move(event));
  }

  int process_;
  bool is_timed_;
  const StepMemory& memory_;
  Json& events_;
};

}  // namespace

std::string MemoryChromeTrace(const MemoryReport& report) {
  Json events = Json::array();
  int process = 1;
  const auto write = [&](const std::optional<StepReport>& step, bool is_timed,
                         const std::string& name) {
    if (!step) return;
    StepTrace(process++, is_timed, step->memory, events).Write(name + ", " + step->name);
  };
  for (const DeviceReport& device : report.devices) {
    const std::string rank = "rank " + std::to_string(device.device);
    write(device.planned, false, rank + " as planned (one microsecond an event)");
    write(device.planned_training, false, rank + " as planned (one microsecond an event)");
    write(device.measured, true, rank + " as measured");
  }
  const Json json = {
      {"displayTimeUnit", "ms"}, {"otherData", {{"model", report.model}}}, {"traceEvents", events}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace frugal
