#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"
#include "builders/report/rows/memory_rows.h"
#include "builders/report/rows/step_choice.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

std::string ComparisonTable(const ReportData& data) {
  HtmlTable table;
  table.columns = {{"peak of"},
                   {"planned bytes", true},
                   {"measured bytes", true},
                   {"measured", true},
                   {"difference"}};
  for (const MemoryRow& row : MemoryRows(data.plan(), data.result)) {
    const std::string weight = row.name == "all together" ? "strong" : "";
    table.rows.push_back({{row.name, weight},
                          {FormatCount(row.planned), weight},
                          {FormatCount(row.measured), weight},
                          {FormatBytes(row.measured), weight},
                          {row.mark, row.equal ? "equal" : "unequal"}});
  }
  return ToHtml(table);
}

std::string StepsTable(const Plan& plan) {
  HtmlTable table;
  table.columns = {{"planned step"},       {"batch", true},       {"peak", true},
                   {"in the arena", true}, {"lower bound", true}, {"work", true},
                   {"recomputed", true}};
  for (const StepPlan& step : plan.steps) {
    const double share = step.flops > 0 ? step.recomputed_flops / step.flops : 0;
    table.rows.push_back({{std::string(NameOf(step.kind))},
                          {FormatCount(step.batch)},
                          {FormatBytes(PeakBytesOf(step))},
                          {FormatBytes(step.layout.arena_bytes)},
                          {FormatBytes(step.layout.lower_bound_bytes)},
                          {FlopsText(step.flops)},
                          {share > 0 ? PercentText(share) : "-"}});
  }
  return table.rows.empty() ? "" : ToHtml(table);
}

}  // namespace

std::string MemoryComparisonSection(const ReportData& data) {
  const MemoryMeasurement& memory = data.result.memory;
  std::string html = "<section>\n<h2>Planned beside measured</h2>\n" + ComparisonTable(data) +
                     "<p>The process as a whole had at most <b>" +
                     FormatBytes(memory.peak_rss_bytes) +
                     "</b> resident, its code and libraries included. After the first step it "
                     "asked the system for memory <b>" +
                     FormatCount(memory.allocations_after_warmup) + "</b> times.</p>\n";
  if (memory.pool) {
    html += "<p>Tensor pool: " + FormatCount(memory.pool->hits) + " requests served, " +
            FormatCount(memory.pool->misses) + " passed on, " +
            FormatCount(memory.pool->evictions) + " idle blocks given back.</p>\n";
  }
  return html + StepsTable(data.plan()) + "</section>\n";
}

}  // namespace frugal
