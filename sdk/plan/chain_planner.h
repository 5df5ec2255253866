#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/plan/chain_solver.h"

namespace frugal {

// A schedule, by what it was found, and what it costs.
struct ChainChoice {
  CheckpointSegments segments;
  ChainCost cost;
  std::string method;  // "optimal", "every 4", "sqrt(n)", "binomial 3", "keep all"
};

// Chooses schedules of a chain: by ChainSolver, and never worse than a known one. The last stage is
// always kept (it stands for the loss, behind which nothing runs).
class ChainPlanner {
 public:
  static constexpr std::string_view kOptimal = "optimal";  // the method of ChainSolver

  explicit ChainPlanner(std::vector<ChainStage> chain);

  // The fastest within so many bytes; nothing where none is found.
  std::optional<ChainChoice> Fastest(std::int64_t peak_bytes);
  // The one of the least peak.
  ChainChoice Least();
  ChainCost CostOf(const CheckpointSegments& segments) const { return Simulate(chain_, segments); }
  std::size_t stage_count() const { return chain_.size(); }
  const ChainChoice& keep_all() const { return known_.front(); }
  // Those that know only the number of stages, and keeping all.
  const std::vector<ChainChoice>& known() const { return known_; }

 private:
  ChainChoice Solved(std::int64_t peak_bytes);
  void AddKnown(CheckpointSegments segments, std::string method);

  std::vector<ChainStage> chain_;
  ChainSolver solver_;
  std::vector<ChainChoice> known_;
};

}  // namespace frugal
