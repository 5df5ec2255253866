#pragma once

#include <cstdint>
#include <vector>

#include "sdk/plan/chain_table.h"

namespace frugal {

// Bounds what any schedule of a chain can do, segments inside segments included, by the bytes and
// times that Simulate goes by. Up to kMostStages they are the table's of ChainTable with all needs
// rounded down, and exact where a slot is one byte and nothing is carried past a stage. Where
// values are, each of two tables counts too little of some (SkipGradients), and the higher bound is
// taken. Of longer chains the bound is weaker: what is not kept until the backward pass begins runs
// at least twice.
class ChainBound {
 public:
  static constexpr std::size_t kMostStages = 100;

  // Bounds are asked for within so many bytes or fewer.
  ChainBound(Chain chain, std::int64_t most_bytes);

  // No schedule that peaks within so many bytes takes fewer seconds; infinite where none does.
  double LeastSeconds(std::int64_t peak_bytes) const;
  // No schedule peaks lower. More than `most_bytes` where none is within them.
  std::int64_t LeastBytes() const;

 private:
  double LeastSecondsByKeeping(std::int64_t peak_bytes) const;

  Chain chain_;
  std::vector<ChainTable> tables_;  // of few stages: each is a bound
};

}  // namespace frugal
