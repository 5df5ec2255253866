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

// Lists the moves of these segments and of those within them, which `path` leads to.
void AddMoves(const CheckpointSegments& segments, std::vector<std::size_t>& path,
              std::vector<ScheduleMove>& moves) {
  using Kind = ScheduleMove::Kind;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const CheckpointSegment& segment = segments[i];
    path.push_back(i);
    moves.push_back({path, Kind::kDissolve});
    if (segment.begin + 1 < segment.end) {
      moves.push_back({path, Kind::kBeginLater});
      moves.push_back({path, Kind::kEndEarlier});
    }
    for (std::size_t cut = segment.begin + 1; cut < segment.end; ++cut) {
      moves.push_back({path, Kind::kCut, cut});
    }
    AddMoves(segment.inner, path, moves);
    path.pop_back();
  }
}

}  // namespace

std::vector<ScheduleMove> MovesOf(const CheckpointSegments& segments) {
  std::vector<ScheduleMove> moves;
  std::vector<std::size_t> path;
  AddMoves(segments, path, moves);
  std::ranges::stable_sort(moves, {}, [](const ScheduleMove& move) {
    return move.kind == ScheduleMove::Kind::kEndEarlier ? ScheduleMove::Kind::kBeginLater
                                                        : move.kind;
  });
  return moves;
}

CheckpointSegments ReplacementOf(const CheckpointSegment& segment, const ScheduleMove& move) {
  const auto& [begin, end, inner] = segment;
  switch (move.kind) {
    case ScheduleMove::Kind::kBeginLater:
      return {{begin + 1, end, Within(inner, begin + 1, end)}};
    case ScheduleMove::Kind::kEndEarlier:
      return {{begin, end - 1, Within(inner, begin, end - 1)}};
    case ScheduleMove::Kind::kCut:
      return {PartOf(segment, begin, move.cut), PartOf(segment, move.cut, end)};
    case ScheduleMove::Kind::kDissolve:
      return inner;
  }
  return {};
}

CheckpointSegments Moved(CheckpointSegments segments, const ScheduleMove& move) {
  CheckpointSegments* list = &segments;
  for (std::size_t i = 0; i + 1 < move.path.size(); ++i) list = &(*list)[move.path[i]].inner;
  const auto place = list->begin() + static_cast<std::ptrdiff_t>(move.path.back());
  const CheckpointSegments replacement = ReplacementOf(*place, move);
  list->insert(list->erase(place), replacement.begin(), replacement.end());
  return segments;
}

}  // namespace frugal
