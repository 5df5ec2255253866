#include "sdk/plan/local_search_moves.h"

#include <algorithm>

namespace frugal {
namespace {

// The segments inside [begin, end), cut where they reach beyond.
CheckpointSegments Within(const CheckpointSegments& segments, std::size_t begin, std::size_t end) {
  CheckpointSegments within;
  for (const CheckpointSegment& segment : segments) {
    const std::size_t from = std::max(segment.begin, begin);
    const std::size_t to = std::min(segment.end, end);
    if (from < to) within.push_back({from, to, Within(segment.inner, from, to)});
  }
  return within;
}

}  // namespace

std::vector<CheckpointSegments> WithOneSegmentLess(const CheckpointSegments& segments) {
  std::vector<CheckpointSegments> all;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto place = static_cast<std::ptrdiff_t>(i);
    CheckpointSegments dissolved = segments;
    dissolved.erase(dissolved.begin() + place);
    const CheckpointSegments& inner = segments[i].inner;
    dissolved.insert(dissolved.begin() + place, inner.begin(), inner.end());
    all.push_back(std::move(dissolved));
    for (CheckpointSegments& fewer : WithOneSegmentLess(inner)) {
      all.push_back(segments);
      all.back()[i].inner = std::move(fewer);
    }
  }
  return all;
}

std::vector<CheckpointSegments> WithOneStageLess(const CheckpointSegments& segments) {
  std::vector<CheckpointSegments> all;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& [begin, end, inner] = segments[i];
    if (begin + 1 < end) {
      all.push_back(segments);
      all.back()[i] = {begin + 1, end, Within(inner, begin + 1, end)};
      all.push_back(segments);
      all.back()[i] = {begin, end - 1, Within(inner, begin, end - 1)};
    }
    for (CheckpointSegments& fewer : WithOneStageLess(inner)) {
      all.push_back(segments);
      all.back()[i].inner = std::move(fewer);
    }
  }
  return all;
}

}  // namespace frugal
