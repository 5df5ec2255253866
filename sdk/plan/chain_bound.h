#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sdk/plan/chain_table.h"

namespace frugal {

// Bounds what any schedule of a chain can do, segments inside segments included, by the bytes and
// times that Simulate goes by. Up to kMostStages they are the table's of ChainTable, and exact
// where nothing is carried past a stage and no row of it has too many steps. Of a carried value a
// table counts too little in some schedules, and in which depends on its SkipGradients: whichever
// they are, the table is a bound, so those are taken that give the higher one, of all in place and
// all between; and branch and bound tells schedules apart by their SkipMaker, of which either has a
// table that counts what there is. The bound of longer chains is weaker: what is not kept until the
// backward pass begins runs at least twice.
class ChainBound {
 public:
  static constexpr std::size_t kMostStages = 100;

  // Bounds are asked for within so many bytes, or fewer, for which those of a table of their own
  // may be higher where values are carried.
  ChainBound(Chain chain, std::int64_t most_bytes);

  // No schedule that peaks within so many bytes takes fewer seconds; infinite where none does.
  double LeastSeconds(std::int64_t peak_bytes) const;
  // Holds a bound, and a schedule of so many seconds where these are finite. Where its table counts
  // all that the schedule takes, it peaks within the bytes but for rows of too many steps, and for
  // values that are made again although they have been taken.
  struct Branched {
    double seconds = 0;
    CheckpointSegments fastest;
    bool counts_all = false;
  };
  enum class Branches : std::uint8_t { kNone, kMany };
  // Returns the same bound or a higher one, by branch and bound over the makers of carried values:
  // until it is `enough` seconds, or its table counts all, or as many tables were asked for as take
  // about a second to make. They are kept for the next call. Of many stages there is no schedule.
  Branched BranchAndBound(std::int64_t peak_bytes, double enough,
                          Branches branches = Branches::kMany);
  // No schedule peaks lower. More than `most_bytes` where none is within them.
  std::int64_t LeastBytes() const;

 private:
  // Returns a table whose rows have as many steps as may be, or so many times fewer.
  ChainTable TableOf(const std::vector<CountedSkip>& counted, std::size_t coarser) const;
  // Returns the table of a branch, which stays until another one is asked for.
  const ChainTable& BranchTable(const std::vector<CountedSkip>& counted);
  // Returns how many tables a bound may ask for: more where they are small.
  int MostTables() const;
  double LeastSecondsByKeeping(std::int64_t peak_bytes) const;

  // Holds how a table counts values, the bound by it, and its schedule of so many seconds.
  struct Branch {
    std::vector<CountedSkip> counted;
    double seconds = 0;
    CheckpointSegments fastest;
  };
  static Branch BranchOf(std::vector<CountedSkip> counted, const ChainTable& table,
                         std::int64_t peak_bytes);
  // Lists the values of which a branch's table counts too little for its fastest schedule.
  std::vector<std::size_t> Miscounted(const Branch& branch) const;

  Chain chain_;
  std::int64_t most_bytes_;
  std::vector<CountedSkip> root_;    // as the table counts them
  std::optional<ChainTable> table_;  // of few stages
  std::map<std::vector<std::pair<SkipGradients, SkipMaker>>, ChainTable> branch_tables_;
  std::size_t branch_steps_ = 0;  // of all of these
};

}  // namespace frugal
