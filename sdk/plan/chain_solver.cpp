#include "sdk/plan/chain_solver.h"

#include <algorithm>

namespace frugal {

ChainSolver::ChainSolver(Chain chain, SkipGradients gradients, ChainTable::Precision precision)
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

const ChainTable& ChainSolver::Table() {
  if (!table_) {
    table_ =
        std::make_unique<ChainTable>(units_, carried_, keep_all_.peak_bytes,
                                     insides_.empty() ? precision_ : kCut, chain_.waiting_bytes);
  }
  return *table_;
}

std::size_t ChainSolver::EntryFor(std::int64_t bytes) {
  if (bytes >= keep_all_.peak_bytes) return 0;
  const auto behind = std::ranges::upper_bound(steps(), bytes, {}, &ChainStep::bytes);
  return 1 + static_cast<std::size_t>(behind - steps().begin());
}

double ChainSolver::Seconds(std::int64_t bytes) {
  if (bytes >= keep_all_.peak_bytes) return keep_all_.seconds;
  return SecondsWithin(steps(), bytes);
}

CheckpointSegments ChainSolver::Schedule(std::int64_t bytes) {
  if (bytes >= keep_all_.peak_bytes) return {};
  return Table().Schedule(bytes);
}

std::int64_t ChainSolver::LeastBytes() {
  return steps().empty() ? keep_all_.peak_bytes : steps().front().bytes;
}

CheckpointSegment Shifted(const CheckpointSegment& segment, std::size_t by) {
  CheckpointSegment shifted{segment.begin + by, segment.end + by};
  for (const CheckpointSegment& inner : segment.inner) shifted.inner.push_back(Shifted(inner, by));
  return shifted;
}

}  // namespace frugal
