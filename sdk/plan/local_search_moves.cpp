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

// A segment that holds nothing but one as long as itself does without that.
CheckpointSegment PartOf(const CheckpointSegment& segment, std::size_t begin, std::size_t end) {
  CheckpointSegments inner = Within(segment.inner, begin, end);
  while (inner.size() == 1 && inner[0].begin == begin && inner[0].end == end) {
    inner = CheckpointSegments(inner[0].inner);
  }
  return {begin, end, std::move(inner)};
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

std::vector<CheckpointSegments> WithOneSegmentCut(const CheckpointSegments& segments) {
  std::vector<CheckpointSegments> all;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const CheckpointSegment& segment = segments[i];
    for (std::size_t cut = segment.begin + 1; cut < segment.end; ++cut) {
      CheckpointSegments two = segments;
      two[i] = PartOf(segment, cut, segment.end);
      two.insert(two.begin() + static_cast<std::ptrdiff_t>(i), PartOf(segment, segment.begin, cut));
      all.push_back(std::move(two));
    }
    for (CheckpointSegments& more : WithOneSegmentCut(segment.inner)) {
      all.push_back(segments);
      all.back()[i].inner = std::move(more);
    }
  }
  return all;
}

}  // namespace frugal
