#include "builders/report/html/html.h"

#include <algorithm>

#include "builders/report/text/text_table.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 32px 24px 64px; max-width: 1048px; background: #fff; color: #1f2933;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", Arial, sans-serif; }
h1 { font-size: 26px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 44px 0 10px; padding-bottom: 6px; border-bottom: 1px solid #d9dee4; }
h3 { font-size: 14px; margin: 20px 0 6px; color: #3e4c59; overflow-wrap: anywhere; }
p { margin: 8px 0; }
.lead { margin: 2px 0; color: #52606d; overflow-wrap: anywhere; }
.warning { padding: 8px 12px; background: #fff4e5; border-left: 4px solid #d9822b; }
ul { margin: 8px 0; padding-left: 20px; }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
  margin: 24px 0 0; }
.figure { border: 1px solid #d9dee4; border-radius: 6px; padding: 12px 14px; }
.figure b { display: block; font-size: 21px; line-height: 1.3; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.figure span { display: block; font-size: 13px; color: #3e4c59; }
.figure small { display: block; font-size: 12px; color: #7b8794; }

.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 8px 0; font-size: 13.5px;
  font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: #52606d; border-bottom: 1px solid #9aa5b1;
  white-space: nowrap; }
th, td { padding: 4px 14px 4px 0; vertical-align: top; }
th:last-child, td:last-child { padding-right: 6px; }
td { border-bottom: 1px solid #eceff2; overflow-wrap: break-word; }
th.number, td.number { text-align: right; white-space: nowrap; }
tr.total td { font-weight: 600; border-top: 1px solid #9aa5b1; border-bottom: none; }
td.share { min-width: 105px; position: relative; }
.bar { position: absolute; left: 0; top: 5px; height: 16px; z-index: -1; max-width: 100%;
  background: #dfe8f2; border-radius: 2px; }
td.nowrap { white-space: nowrap; }
td.strong { font-weight: 600; }
td.equal { color: #2b7a3d; }
td.unequal { color: #b42318; font-weight: 600; }
td.even-segment { border-left: 4px solid #4e79a7; padding-left: 8px; }
td.odd-segment { border-left: 4px solid #a9bfd8; padding-left: 8px; }

.configs { columns: 2; column-gap: 36px; }
.config { break-inside: avoid; padding-bottom: 14px; }
.config table { font-size: 12.5px; table-layout: fixed; }
.config td { padding: 2px 8px 2px 0; overflow-wrap: anywhere; }
.config td:nth-child(1) { width: 42%; }
.config td:nth-child(2) { width: 25%; }
h4 { font-size: 13px; margin: 0; color: #3e4c59; overflow-wrap: anywhere; }
details { margin-top: 16px; }
summary { cursor: pointer; font-weight: 600; color: #3e4c59; }
td.default { color: #8792a0; }
td.chosen { font-weight: 500; }
@media (max-width: 760px) { .configs { columns: 1; } }

svg { display: block; width: 100%; height: auto; margin: 4px 0 8px; }
svg text { font-family: inherit; font-variant-numeric: tabular-nums; fill: #52606d; }
.tick { font-size: 12px; }
.axis-title { font-size: 12px; }
.value { font-size: 13px; font-weight: 600; }
svg .value { fill: #1f2933; }
.grid { stroke: #eceff2; }
.axis { stroke: #9aa5b1; }
.epoch { stroke: #c3cbd4; stroke-dasharray: 2 4; }
.peak { stroke: #b42318; stroke-width: 1.5; }
path.loss, path.test, path.measured { fill: none; stroke-linejoin: round; }
path.loss { stroke: #2f5f98; stroke-width: 1.8; }
path.loss.faint { stroke: #b9cbe0; stroke-width: 1; }
path.test { stroke: #2b7a3d; stroke-width: 1.8; }
path.measured { stroke: #1f2933; stroke-width: 1.2; stroke-dasharray: 5 4; }
.loss-dot { fill: #2f5f98; }
.test-dot { fill: #2b7a3d; }
.area { stroke: none; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 13px; color: #3e4c59;
  font-variant-numeric: tabular-nums; }
.legend i { display: inline-block; width: 12px; height: 12px; margin-right: 7px;
  border-radius: 2px; vertical-align: -1px; }
.legend b { font-weight: 600; }
.legend .loss-key { height: 3px; width: 18px; vertical-align: 4px; background: #2f5f98; }
.legend .loss-key.faint { background: #b9cbe0; }
.legend .measured-key { height: 0; width: 20px; border-radius: 0; vertical-align: 4px;
  border-top: 2px dashed #1f2933; }
@media (max-width: 700px) { section { overflow-x: auto; } svg { min-width: 640px; } }
@media print { body { max-width: none; } section { break-inside: avoid-page; } }
)css";

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

std::string_view ReportStyle() { return kStyle; }

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char symbol : Printable(text)) {
    switch (symbol) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += symbol;
    }
  }
  return escaped;
}

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
