#include "builders/config/text/config_values.h"
#include "builders/report/html/html.h"
#include "builders/report/html/html_sections.h"

namespace frugal {
namespace {

std::vector<HtmlCell> RowOf(const ResolvedValue& value) {
  const std::string style = value.origin.kind == OriginKind::kDefault ? "default" : "chosen";
  return {{value.name, style},
          {ToString(value.value), style},
          {.text = BriefText(value.origin), .style_class = style, .hint = ToString(value.origin)}};
}

std::string SectionHtml(const std::string& section, const HtmlTable& table) {
  return "<div class=\"config\">\n<h4>[" + EscapeHtml(section) + "]</h4>\n" + ToHtml(table) +
         "</div>\n";
}

// One table for each section, in columns.
std::string Tables(const std::vector<ResolvedValue>& values) {
  std::string html = "<div class=\"configs\">\n";
  for (std::size_t i = 0; i < values.size();) {
    const std::string& section = values[i].section;
    HtmlTable table;
    table.columns = {{""}, {""}, {""}};
    for (; i < values.size() && values[i].section == section; ++i) {
      table.rows.push_back(RowOf(values[i]));
    }
    html += SectionHtml(section, table);
  }
  return html + "</div>\n";
}

}  // namespace

std::string ConfigurationSection(const RunConfig& config) {
  std::vector<ResolvedValue> sections;
  std::vector<ResolvedValue> layers;
  for (ResolvedValue& value : AllValues(config)) {
    (IsOfLayer(value) ? layers : sections).push_back(std::move(value));
  }
  std::string html =
      "<section>\n<h2>Configuration</h2>\n<p>Every value and where it comes from; defaults are "
      "grey. Files are named in full under the pointer.</p>\n" +
      Tables(sections);
  if (!layers.empty()) {
    html +=
        "<details>\n<summary>Values of the layers</summary>\n" + Tables(layers) + "</details>\n";
  }
  return html + "</section>\n";
}

}  // namespace frugal
