#include "sdk/plan/devices_plan.h"

#include <algorithm>
#include <cmath>

namespace frugal {
namespace {

char SymbolOf(const PipelineSlot& slot) {
  if (slot.kind == SlotKind::kForward) return static_cast<char>('0' + slot.micro_batch % 10);
  const char first = slot.kind == SlotKind::kWeightGradient ? 'A' : 'a';
  return static_cast<char>(first + slot.micro_batch % 26);
}

}  // namespace

PipelineShares SharesOf(const PipelineTimes& times) {
  const double seconds = times.Seconds();
  if (seconds <= 0) return {};
  double all = 0, most = 0;
  for (const std::vector<SlotTime>& stage : times.slots) {
    double busy = 0;
    for (const SlotTime& slot : stage) busy += slot.end - slot.begin;
    all += busy;
    most = std::max(most, busy);
  }
  const double mean = all / static_cast<double>(times.slots.size());
  return {.work = mean / seconds,
          .uneven = (most - mean) / seconds,
          .bubble = (seconds - most) / seconds};
}

std::vector<std::string> PipelineChart(const PipelineSchedule& schedule, const PipelineTimes& times,
                                       std::size_t columns) {
  const double seconds = times.Seconds();
  std::vector<std::string> lines;
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::string line(columns, '.');
    for (std::size_t i = 0; i < schedule.stages[stage].size() && seconds > 0; ++i) {
      const SlotTime& time = times.slots[stage][i];
      const auto at = [&](double t) {
        return static_cast<std::size_t>(std::lround(t / seconds * static_cast<double>(columns)));
      };
      for (std::size_t column = at(time.begin); column < std::min(columns, at(time.end));
           ++column) {
        line[column] = SymbolOf(schedule.stages[stage][i]);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace frugal
