#include "presets/config/diagnostics.h"

#include <algorithm>
#include <tuple>

namespace frugal {
namespace {

// 0 for places in a file, 1 for the command line, 2 for no place at all.
int GroupOf(const SourceLocation& location) {
  if (location.line > 0) return 0;
  return location.IsCommandLine() ? 1 : 2;
}

auto OrderOf(const SourceLocation& location) {
  return std::make_tuple(GroupOf(location), location.line, location.column);
}

}  // namespace

void Diagnostics::Add(const SourceLocation& location, const Diagnostic& diagnostic) {
  items_.push_back({location, diagnostic});
}

std::vector<std::string> Diagnostics::Lines() const {
  std::vector<Item> sorted = items_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Item& a, const Item& b) {
    return OrderOf(a.location) < OrderOf(b.location);
  });
  std::vector<std::string> lines;
  lines.reserve(sorted.size());
  for (const Item& item : sorted) lines.push_back(DescribeAt(item.location, item.diagnostic));
  return lines;
}

void Diagnostics::ThrowIfAny() const {
  if (items_.empty()) return;
  if (items_.size() == 1) throw ConfigError(items_.front().diagnostic, items_.front().location);
  constexpr std::size_t kMostLines = 100;
  const std::vector<std::string> lines = Lines();
  std::string message;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    message += (i == 0 ? "" : "\n") + lines[i];
  }
  if (lines.size() > kMostLines) {
    message += "\nand " + std::to_string(lines.size() - kMostLines) + " more";
  }
  throw ConfigError(message);
}

}  // namespace frugal
