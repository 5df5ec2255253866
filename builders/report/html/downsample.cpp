#include "builders/report/html/downsample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace frugal {
namespace {

void AddRun(const std::vector<double>& values, std::size_t begin, std::size_t end,
            std::set<std::size_t>& drawn) {
  std::size_t low = end;
  std::size_t high = end;
  std::size_t broken = end;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(values[i])) {
      if (broken == end) broken = i;
      continue;
    }
    if (low == end || values[i] < values[low]) low = i;
    if (high == end || values[i] > values[high]) high = i;
  }
  for (const std::size_t i : {low, high, broken}) {
    if (i != end) drawn.insert(i);
  }
}

}  // namespace

std::vector<std::size_t> IndicesToDraw(const std::vector<double>& values, std::size_t most) {
  if (values.size() <= most) {
    std::vector<std::size_t> all(values.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  const std::size_t runs = std::max<std::size_t>(most / 2, 1);
  std::set<std::size_t> drawn = {0, values.size() - 1};
  for (std::size_t run = 0; run < runs; ++run) {
    AddRun(values, run * values.size() / runs, (run + 1) * values.size() / runs, drawn);
  }
  return {drawn.begin(), drawn.end()};
}

}  // namespace frugal
