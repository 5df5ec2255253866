#include "presets/config/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace frugal {
namespace {

std::string Lowercase(std::string_view text) {
  std::string lower(text);
  for (char& symbol : lower) {
    if (symbol >= 'A' && symbol <= 'Z') symbol = static_cast<char>(symbol - 'A' + 'a');
  }
  return lower;
}

// Largest distance that still counts as near.
std::size_t Tolerance(std::size_t longer) {
  return std::min(std::max<std::size_t>(1, longer / 3), longer - 1);
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  // Three rows of the table over prefixes of a and b: two above, one above, this one.
  std::vector<std::size_t> above2(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    above2.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], above2[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> NearestName(std::string_view given,
                                       const std::vector<std::string>& names) {
  std::optional<std::string> nearest;
  std::size_t best = 0;
  for (const std::string& name : names) {
    const std::size_t longer = std::max(given.size(), name.size());
    const std::size_t shorter = std::min(given.size(), name.size());
    // The lengths alone can rule a name out, which keeps absurdly long input cheap.
    if (shorter == 0 || longer - shorter > Tolerance(longer)) continue;
    const std::size_t distance = EditDistance(Lowercase(given), Lowercase(name));
    if (distance > Tolerance(longer) || (nearest && distance >= best)) continue;
    nearest = name;
    best = distance;
  }
  return nearest;
}

std::string SuggestName(std::string_view given, const std::vector<std::string>& names) {
  const std::optional<std::string> nearest = NearestName(given, names);
  return nearest ? "did you mean '" + *nearest + "'?" : "";
}

}  // namespace frugal
