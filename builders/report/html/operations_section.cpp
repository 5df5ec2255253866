#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"
#include "builders/report/text/operation_table.h"

namespace frugal {

std::string OperationsSection(const ReportData& data) {
  if (!data.result.profile) return "";
  const OperationProfile& profile = *data.result.profile;
  HtmlTable table;
  for (const OperationColumn& column : OperationColumns()) {
    table.columns.push_back({column.title, column.is_number});
  }
  for (const OperationRow& row : OperationRows(profile)) {
    std::vector<HtmlCell>& cells = table.rows.emplace_back();
    for (const OperationColumn& column : OperationColumns()) {
      cells.push_back({column.cell(row)});
      if (!column.is_share) continue;
      cells.back().style_class = "share";
      cells.back().bar = row.share;
    }
  }
  table.last_is_total = true;
  return "<section>\n<h2>Operations</h2>\n<p>" + EscapeHtml(OperationNote(profile)) + "</p>\n" +
         ToHtml(table) + "</section>\n";
}

}  // namespace frugal
