#include "builders/report/html/html_escape.h"

#include "builders/report/text/text_table.h"

namespace frugal {

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

}  // namespace frugal
