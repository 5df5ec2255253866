#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frugal {

// The style sheet of reports: only fonts that systems have, nothing from elsewhere.
std::string_view ReportStyle();

// The text as HTML and SVG show it, in elements and in quoted attributes alike. Control characters
// and bytes that are not UTF-8 become '?'.
std::string EscapeHtml(std::string_view text);

// One cell; its text is escaped when the table is written.
struct HtmlCell {
  std::string text;
  std::string style_class = {};  // of ReportStyle()
  double bar = 0;                // share in [0, 1] of a bar behind the text; 0 = none
  std::string hint = {};         // shown under the pointer
};

struct HtmlColumn {
  std::string title;
  bool right = false;  // numbers
};

// Without titles there is no head.
struct HtmlTable {
  std::vector<HtmlColumn> columns;
  std::vector<std::vector<HtmlCell>> rows;
  bool last_is_total = false;
};
std::string ToHtml(const HtmlTable& table);

}  // namespace frugal
