#include "sdk/plan/chain_solver.h"

#include <algorithm>
#include <cmath>

namespace frugal {

ChainSolver::ChainSolver(Chain chain, SkipGradients gradients, Precision precision)
    : chain_(std::move(chain)),
      gradients_(gradients),
      precision_(precision),
      keep_all_(Simulate(chain_, {})) {
  if (chain_.size() > kMostUnits) {
    CutIntoRuns();
    return;
  }
  for (std::size_t i = 0; i < chain_.size(); ++i) units_.push_back({i, i + 1, chain_.stages[i]});
  for (const SkipConnection& value : chain_.carried) carried_.push_back({value, gradients_});
}

// The longer runs come first, so that runs of a network of equal blocks are equal where they can
// be.
void ChainSolver::CutIntoRuns() {
  const std::size_t count = chain_.size();
  std::size_t end = 0;
  for (std::size_t i = 0; i < kMostUnits; ++i) {
    const std::size_t begin = end;
    end += count / kMostUnits + (i < count % kMostUnits ? 1 : 0);
    Chain run = PartOf(chain_, begin, end);
    const ChainStage merged = Merge(run);
    auto inside =
        std::ranges::find_if(insides_, [&](const auto& other) { return other->chain_ == run; });
    if (inside == insides_.end()) {
      insides_.push_back(
          std::unique_ptr<ChainSolver>(new ChainSolver(std::move(run), gradients_, kRun)));
      inside = insides_.end() - 1;
    }
    units_.push_back({begin, end, merged, inside->get()});
  }
  const auto unit_of = [&](std::size_t stage) {
    if (stage == count) return units_.size();  // behind all
    const auto behind = std::ranges::upper_bound(units_, stage, {}, &ChainUnit::begin);
    return static_cast<std::size_t>(behind - units_.begin()) - 1;
  };
  for (const SkipConnection& value : chain_.carried) {
    const SkipConnection by_units{unit_of(value.made), unit_of(value.taken), value.bytes};
    if (by_units.made + 1 < by_units.taken) carried_.push_back({by_units, gradients_});
  }
}

const ChainTable& ChainSolver::TableOfLevel(int level) {
  std::unique_ptr<ChainTable>& table = tables_[level];
  if (!table)
    table = std::make_unique<ChainTable>(units_, carried_, RangeOf(level), precision_.slots,
                                         SlotRounding::kUp, chain_.waiting_bytes);
  return *table;
}

int ChainSolver::LevelFor(std::int64_t bytes) const {
  int level = 0;
  const auto finest = static_cast<std::int64_t>(precision_.slots);  // slots of one byte
  while (level < precision_.levels && RangeOf(level + 1) >= std::max(bytes, finest)) ++level;
  return level;
}

ChainSolver::Entry ChainSolver::EntryFor(std::int64_t bytes) {
  if (bytes >= keep_all_.peak_bytes) return {};
  const int level = LevelFor(bytes);
  return {level, TableOfLevel(level).SlotsIn(bytes)};
}

double ChainSolver::Seconds(std::int64_t bytes) {
  if (bytes >= keep_all_.peak_bytes) return keep_all_.seconds;
  return TableOfLevel(LevelFor(bytes)).Seconds(bytes);
}

CheckpointSegments ChainSolver::Schedule(std::int64_t bytes) {
  if (bytes >= keep_all_.peak_bytes) return {};
  return TableOfLevel(LevelFor(bytes)).Schedule(bytes);
}

// Down to the level whose least is in its own range and not in a finer one's. A finer table rounds
// otherwise, and may find nothing for what a coarser one calls enough.
std::int64_t ChainSolver::LeastBytes(std::int64_t enough) {
  int level = LevelFor(enough);
  // Bytes that are known to do may not do where each stage is rounded up.
  while (level > 0 && TableOfLevel(level).LeastBytes() > RangeOf(level)) --level;
  while (level < precision_.levels && TableOfLevel(level).LeastBytes() <= RangeOf(level + 1)) {
    ++level;
  }
  for (; level >= 0; --level) {
    const std::int64_t finer = level < precision_.levels ? RangeOf(level + 1) + 1 : 0;
    const std::int64_t least = std::max(TableOfLevel(level).LeastBytes(), finer);
    if (least <= RangeOf(level) && std::isfinite(Seconds(least))) return least;
  }
  return keep_all_.peak_bytes;
}

CheckpointSegment Shifted(const CheckpointSegment& segment, std::size_t by) {
  CheckpointSegment shifted{segment.begin + by, segment.end + by};
  for (const CheckpointSegment& inner : segment.inner) shifted.inner.push_back(Shifted(inner, by));
  return shifted;
}

}  // namespace frugal
