#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace frugal {

// Damerau-Levenshtein distance (optimal string alignment): the fewest insertions, deletions,
// replacements and swaps of neighbours that turn one text into the other.
// F. J. Damerau, "A technique for computer detection and correction of spelling errors",
// Communications of the ACM 7(3), 1964.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The name that was probably meant, or none where no name is near enough: at most a third of the
// longer text may differ (at least one letter may, never all). Capitals do not count as
// differences.
std::optional<std::string> NearestName(std::string_view given,
                                       const std::vector<std::string>& names);

// "did you mean 'name'?", or "" where no name is near enough.
std::string SuggestName(std::string_view given, const std::vector<std::string>& names);

}  // namespace frugal
