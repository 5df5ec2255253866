#pragma once

#include <cstddef>
#include <vector>

namespace frugal {

// Returns which of many values to draw: in each of `most` / 2 equal runs, the smallest, the
// largest, and the first that is not finite; and the first and last of all. Ascending, without
// repetition; all of them where there are at most `most`.
std::vector<std::size_t> IndicesToDraw(const std::vector<double>& values, std::size_t most);

}  // namespace frugal
