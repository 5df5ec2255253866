#pragma once

#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "sdk/plan/chain_table.h"

namespace frugal {

// The fastest schedules of a chain of any length. Up to kMostUnits stages they are those of one
// ChainTable; longer chains are cut into that many runs, and what lies inside a run is solved by
// itself, so their schedules keep or drop whole runs and may not be the very best. Tables are made
// when they are first needed: one for each halving of memory, since a slot must not be large beside
// the limit.
class ChainSolver {
 public:
  static constexpr std::size_t kMostUnits = 100;

  explicit ChainSolver(Chain chain, SkipGradients gradients = SkipGradients::kInPlace)
      : ChainSolver(std::move(chain), gradients, kWhole) {}

  // Names the entry of a table that limits of so many bytes read: those of one have one schedule.
  struct Entry {
    int level = -1;  // none where all is kept
    std::size_t slots = 0;

    auto operator<=>(const Entry&) const = default;
  };
  Entry EntryFor(std::int64_t bytes);
  // Least seconds within so many bytes; infinite where nothing fits.
  double Seconds(std::int64_t bytes);
  // The schedule that takes them. Only where they are finite.
  CheckpointSegments Schedule(std::int64_t bytes);
  // The least bytes that this finds a schedule for. So many are known to do: where they are few,
  // the coarser tables are not made.
  std::int64_t LeastBytes(std::int64_t enough = std::numeric_limits<std::int64_t>::max());
  // How much more a schedule within so many bytes may be said to take than it does, about.
  std::int64_t RoundingWithin(std::int64_t bytes) const {
    return bytes * static_cast<std::int64_t>(units_.size()) /
           static_cast<std::int64_t>(precision_.slots);
  }

 private:
  struct Precision {
    std::size_t slots;  // of a table
    int levels;         // how often memory is halved
  };
  static constexpr Precision kWhole{500, 10};
  static constexpr Precision kRun{64, 3};
  ChainSolver(Chain chain, SkipGradients gradients, Precision precision);

  int LevelFor(std::int64_t bytes) const;
  const ChainTable& TableOfLevel(int level);
  std::int64_t RangeOf(int level) const { return keep_all_.peak_bytes >> level; }
  void CutIntoRuns();

  Chain chain_;
  SkipGradients gradients_;
  Precision precision_;
  ChainCost keep_all_;
  std::vector<ChainUnit> units_;
  std::vector<CountedSkip> carried_;                   // counting units
  std::vector<std::unique_ptr<ChainSolver>> insides_;  // of runs; equal runs share one
  std::map<int, std::unique_ptr<ChainTable>> tables_;  // by how often the range was halved
};

// The segment with all numbers raised.
CheckpointSegment Shifted(const CheckpointSegment& segment, std::size_t by);

}  // namespace frugal
