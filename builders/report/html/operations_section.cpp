#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"
#include "builders/report/text/operation_table.h"

namespace frugal {

std::string OperationsSection(const ReportData& data) {
  if (!data.result.profile) return "";
  const OperationProfile& profile = *data.result.profile;
  HtmlTable table;
  table.columns = {{"operation"}};
  for (const char* title : {"calls", "ms", "time", "GFLOP/s", "of limit", "GB/s", "of copy"}) {
    table.columns.push_back({title, true});
  }
  for (const OperationRow& row : OperationRows(profile)) {
    std::vector<HtmlCell> cells;
    for (const std::string& text : OperationCells(row)) cells.push_back({text});
    cells[3].style_class = "share";
    cells[3].bar = row.share;
    table.rows.push_back(std::move(cells));
  }
  table.last_is_total = true;
  return "<section>\n<h2>Operations</h2>\n<p>" + EscapeHtml(OperationNote(profile)) + "</p>\n" +
         ToHtml(table) + "</section>\n";
}

}  // namespace frugal
