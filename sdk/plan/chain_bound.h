#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sdk/plan/chain_table.h"

namespace frugal {

// Bounds what any schedule of a chain can do, segments inside segments included, by the bytes and
// times that Simulate goes by. Up to kMostStages they are the table's of ChainTable with all needs
// rounded down, and exact where a slot is one byte and nothing is carried past a stage. Of a
// carried value a table counts too little in some schedules, and in which depends on its
// SkipGradients: whichever they are, the table is a bound, so those are taken that give the highest
// one, of all in place, all between, and what comes of changing one at a time. Of longer chains the
// bound is weaker: what is not kept until the backward pass begins runs at least twice.
class ChainBound {
 public:
  static constexpr std::size_t kMostStages = 100;

  // Bounds are asked for within so many bytes, or fewer, for which those of a table of their own
  // may be higher where values are carried.
  ChainBound(Chain chain, std::int64_t most_bytes);

  // No schedule that peaks within so many bytes takes fewer seconds; infinite where none does.
  double LeastSeconds(std::int64_t peak_bytes) const;
  // Returns a schedule of so many seconds, which peaks higher where the bound counts too little.
  // Only of few stages, and where the seconds are finite.
  CheckpointSegments Schedule(std::int64_t peak_bytes) const {
    return table_->Schedule(peak_bytes);
  }
  // No schedule peaks lower. More than `most_bytes` where none is within them.
  std::int64_t LeastBytes() const;

 private:
  // Returns a table of so many slots, or up to twice as many.
  ChainTable TableOf(const std::vector<CountedSkip>& counted, std::size_t slots) const;
  // Returns how skips are best counted for a bound within most_bytes_, by tables of so many slots.
  std::vector<CountedSkip> CountedForMost(std::size_t slots) const;
  double LeastSecondsByKeeping(std::int64_t peak_bytes) const;

  Chain chain_;
  std::int64_t most_bytes_;
  std::optional<ChainTable> table_;  // of few stages
};

}  // namespace frugal
