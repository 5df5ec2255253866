#pragma once

#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "sdk/plan/chain_table.h"

namespace frugal {

// The fastest schedules of a chain of any length. Up to kMostUnits stages they are those of one
// ChainTable; longer chains are cut into that many runs, and what lies inside a run is solved by
// itself, so their schedules keep or drop whole runs and may not be the very best.
class ChainSolver {
 public:
  static constexpr std::size_t kMostUnits = 100;

  explicit ChainSolver(Chain chain, SkipGradients gradients = SkipGradients::kInPlace)
      : ChainSolver(std::move(chain), gradients, kWhole) {}

  // Names the step that a limit of so many bytes is within: all limits of one have one schedule.
  std::size_t EntryFor(std::int64_t bytes);
  // Least seconds within so many bytes; infinite where nothing fits.
  double Seconds(std::int64_t bytes);
  // The schedule that takes them. Only where they are finite.
  CheckpointSegments Schedule(std::int64_t bytes);
  // The least bytes that this finds a schedule for.
  std::int64_t LeastBytes();
  // Says how much more a schedule within so many bytes may be said to take than it does, about:
  // where runs are cut, they take what they do as a whole.
  std::int64_t OverestimateWithin(std::int64_t bytes) const {
    return insides_.empty() ? 0 : bytes / 5;
  }
  // Returns the least seconds by bytes, below those of keeping all.
  const ChainSteps& steps() { return Table().steps(); }

 private:
  // A chain that is cut into runs has many tables, which together take no longer than one.
  static constexpr ChainTable::Precision kWhole{1'500'000, 1000}, kCut{400'000, 160},
      kRun{400'000, 64};
  ChainSolver(Chain chain, SkipGradients gradients, ChainTable::Precision precision);

  const ChainTable& Table();
  void CutIntoRuns();

  Chain chain_;
  SkipGradients gradients_;
  ChainTable::Precision precision_;
  ChainCost keep_all_;
  std::vector<ChainUnit> units_;
  std::vector<CountedSkip> carried_;                   // counting units
  std::vector<std::unique_ptr<ChainSolver>> insides_;  // of runs; equal runs share one
  std::unique_ptr<ChainTable> table_;                  // made when it is first needed
};

// The segment with all numbers raised.
CheckpointSegment Shifted(const CheckpointSegment& segment, std::size_t by);

}  // namespace frugal
