#include "builders/report/text/memory_table.h"

#include <algorithm>

#include "builders/report/rows/memory_rows.h"
#include "builders/report/text/device_table.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string PoolText(const PoolStatistics& pool) {
  return FormatCount(pool.hits) + " hits, " + FormatCount(pool.misses) + " misses, " +
         FormatCount(pool.evictions) + " evictions, " + FormatBytes(pool.idle_bytes) + " idle";
}

std::string PagingText(const Plan& plan, const PagingMeasurement& measured) {
  const PagingTraffic planned = plan.steps.empty() ? PagingTraffic() : plan.steps.front().paged;
  return FormatBytes(measured.step.in_bytes) + " read, " + FormatBytes(measured.step.out_bytes) +
         " written in a step, " +
         (planned == measured.step ? "as planned"
                                   : "planned " + FormatBytes(planned.in_bytes) + " and " +
                                         FormatBytes(planned.out_bytes)) +
         "; waited for it " + DurationText(measured.waited_seconds) + " in all";
}

// Says what each device took, and sent in a step on average.
std::string DevicesText(const DevicesPlan& plan, const TrainingResult& result) {
  TextTable table;
  table.columns = {{"Device"},
                   {"planned bytes", true},
                   {"measured bytes", true},
                   {"planned to send a step", true},
                   {"sent a step", true}};
  const auto steps = std::max<std::int64_t>(1, result.steps);
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const MemoryMeasurement& measured = result.memory.devices[i];
    table.rows.push_back({std::to_string(i), FormatCount(plan.devices[i].peak_bytes),
                          FormatCount(measured.peak_bytes),
                          FormatCount(plan.devices[i].sent.Total().bytes),
                          FormatCount(measured.sent.bytes / steps)});
  }
  const std::string chart =
      result.pipeline ? MeasuredChartText(plan, *result.pipeline) : std::string();
  return chart + ToText(table) + "\n";
}

}  // namespace

std::string MemoryTableText(const Plan& plan, const TrainingResult& result) {
  TextTable table;
  table.columns = {
      {"Peak memory"}, {"planned bytes", true}, {"measured bytes", true}, {""}, {"", true}};
  for (const MemoryRow& row : MemoryRows(plan, result)) {
    table.rows.push_back({row.name, FormatCount(row.planned), FormatCount(row.measured), row.mark,
                          FormatBytes(row.measured)});
  }
  TextTable others;
  others.columns = {{""}, {""}};
  others.rows = {
      {"process, peak resident", FormatBytes(result.memory.peak_rss_bytes)},
      {"allocations after the first step", FormatCount(result.memory.allocations_after_warmup)}};
  if (result.memory.pool) others.rows.push_back({"tensor pool", PoolText(*result.memory.pool)});
  if (result.memory.paging) {
    others.rows.push_back({"page file", PagingText(plan, *result.memory.paging)});
  }
  return (plan.devices ? DevicesText(*plan.devices, result) : "") + ToText(table) + ToText(others);
}

}  // namespace frugal
