#include "builders/report/rows/memory_rows.h"

#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

constexpr std::int64_t kPage = 4096;

MemoryRow RowOf(std::string name, std::int64_t planned, std::int64_t measured) {
  MemoryRow row{std::move(name), planned, measured, planned == measured, "="};
  const std::int64_t difference = measured - planned;
  if (!row.equal) row.mark = (difference > 0 ? "+" : "") + FormatCount(difference);
  return row;
}

MemoryRow ArenaRow(std::int64_t planned, std::int64_t measured) {
  MemoryRow row = RowOf("arena", planned, measured);
  if (row.equal || measured != (planned + kPage - 1) / kPage * kPage) return row;
  row.equal = true;
  row.mark = "= in whole pages";
  return row;
}

}  // namespace

std::vector<MemoryRow> MemoryRows(const Plan& plan, const TrainingResult& result) {
  const MemoryMeasurement& memory = result.memory;
  std::vector<MemoryRow> rows;
  for (const MemoryTag tag : kAllMemoryTags) {
    const std::int64_t planned = plan.peak_by_purpose[tag];
    const std::int64_t measured = memory.peak_by_purpose[tag];
    if (planned == 0 && measured == 0) continue;
    rows.push_back(RowOf(std::string(NameOf(tag)), planned, measured));
  }
  rows.push_back(RowOf("all together", plan.peak_bytes, memory.peak_bytes));
  // Without activation pooling the heap serves the steps and there is no arena to compare.
  const bool has_arena = memory.arena_bytes > 0 || plan.arena_kept_bytes > 0;
  if (has_arena) rows.push_back(ArenaRow(plan.arena_bytes, memory.arena_bytes));
  return rows;
}

}  // namespace frugal
