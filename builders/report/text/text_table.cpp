#include "builders/report/text/text_table.h"

#include <algorithm>
#include <numeric>

#include "sdk/core/utf8.h"

namespace frugal {
namespace {

constexpr std::size_t kLeastCut = 8;  // characters that a cell keeps at least
constexpr std::string_view kGap = "  ";

bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::vector<std::size_t> WidthsOf(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const TextColumn& column : table.columns) widths.push_back(CharacterCount(column.title));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], CharacterCount(row[i]));
    }
  }
  return widths;
}

void Narrow(std::size_t& width, std::size_t& excess) {
  if (width <= kLeastCut) return;
  const std::size_t cut = std::min(excess, width - kLeastCut);
  width -= cut;
  excess -= cut;
}

std::string Line(const std::vector<TextColumn>& columns, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = CutTo(cells[i], widths[i]);
    const std::string padding(widths[i] - CharacterCount(cell), ' ');
    line += kGap;
    line += columns[i].right ? padding + cell : cell + padding;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string ToText(const TextTable& table) {
  std::vector<std::size_t> widths = WidthsOf(table);
  const std::size_t total =
      std::accumulate(widths.begin(), widths.end(), widths.size() * kGap.size());
  std::size_t excess = total > table.width ? total - table.width : 0;
  if (excess > 0) Narrow(widths[table.flexible], excess);
  if (excess > 0) Narrow(widths.front(), excess);
  std::vector<std::string> titles;
  for (const TextColumn& column : table.columns) titles.push_back(column.title);
  const bool has_titles =
      std::ranges::any_of(titles, [](const std::string& title) { return !title.empty(); });
  std::string text = has_titles ? Line(table.columns, titles, widths) : "";
  for (const auto& row : table.rows) text += Line(table.columns, row, widths);
  return text;
}

std::string Printable(std::string_view text) {
  const bool is_utf8 = IsUtf8(text);
  std::string printable(text);
  for (char& symbol : printable) {
    const auto code = static_cast<unsigned char>(symbol);
    if (code < 0x20 || code == 0x7F || (code >= 0x80 && !is_utf8)) symbol = '?';
  }
  return printable;
}

std::size_t CharacterCount(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, ContinuesCharacter));
}

std::string CutTo(const std::string& text, std::size_t most) {
  if (CharacterCount(text) <= most) return text;
  const std::size_t dots = std::min<std::size_t>(3, most);
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end) {
    if (ContinuesCharacter(text[end])) continue;
    if (kept++ == most - dots) break;
  }
  return text.substr(0, end) + std::string(dots, '.');
}

}  // namespace frugal
