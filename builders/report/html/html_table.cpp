#include "builders/report/html/html_table.h"

#include <algorithm>

#include "builders/report/html/html_escape.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr double kWidestBar = 50;  // % of the cell; the rest is for the text

std::string CellHtml(const HtmlColumn& column, const HtmlCell& cell) {
  std::string classes = column.right ? "number" : "";
  if (!cell.style_class.empty()) classes += (classes.empty() ? "" : " ") + cell.style_class;
  std::string html = "<td";
  if (!classes.empty()) html += " class=\"" + classes + "\"";
  if (!cell.hint.empty()) html += " title=\"" + EscapeHtml(cell.hint) + "\"";
  html += ">";
  if (cell.bar > 0) {
    html +=
        "<span class=\"bar\" style=\"width:" + FixedText(std::min(cell.bar, 1.0) * kWidestBar, 1) +
        "%\"></span>";
  }
  return html + EscapeHtml(cell.text) + "</td>";
}

std::string HeadHtml(const std::vector<HtmlColumn>& columns) {
  const auto is_bare = [](const HtmlColumn& column) { return column.title.empty(); };
  if (std::ranges::all_of(columns, is_bare)) return "";
  std::string html = "<thead><tr>";
  for (const HtmlColumn& column : columns) {
    html += column.right ? "<th class=\"number\">" : "<th>";
    html += EscapeHtml(column.title) + "</th>";
  }
  return html + "</tr></thead>\n";
}

}  // namespace

std::string ToHtml(const HtmlTable& table) {
  std::string html = "<div class=\"scroll\"><table>\n" + HeadHtml(table.columns) + "<tbody>\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool is_total = table.last_is_total && i + 1 == table.rows.size();
    html += is_total ? "<tr class=\"total\">" : "<tr>";
    for (std::size_t column = 0; column < table.rows[i].size(); ++column) {
      html += CellHtml(table.columns[column], table.rows[i][column]);
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

}  // namespace frugal
