#pragma once

#include <string>
#include <vector>

namespace frugal {

// One cell; its text is escaped when the table is written.
struct HtmlCell {
  std::string text;
  std::string style_class = {};  // of html_style.cpp
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
