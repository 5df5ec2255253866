#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/plan/chain_solver.h"
#include "sdk/plan/local_search_moves.h"

namespace frugal {

// A schedule, by what it was found, and what it costs.
struct ChainChoice {
  CheckpointSegments segments;
  ChainCost cost;
  std::string method;  // "optimal", "every 4", "sqrt(n)", "binomial 3", "keep all"
};

// Chooses schedules of a chain: by ChainSolver, mended by what Simulate says that they take, and
// never worse than a known one. The last stage is always kept (it stands for the loss, behind which
// nothing runs).
class ChainPlanner {
 public:
  static constexpr std::string_view kOptimal = "optimal";  // the method of ChainSolver

  explicit ChainPlanner(Chain chain);

  // The fastest within so many bytes; nothing where none is found.
  std::optional<ChainChoice> Fastest(std::int64_t peak_bytes);
  // The one of the least peak.
  ChainChoice Least();
  // Returns the choice with as little run again as may be, while that fits. Of many stages it is
  // returned as it is.
  ChainChoice Shortened(ChainChoice choice, std::int64_t peak_bytes) const;
  ChainCost CostOf(const CheckpointSegments& segments) const { return Simulate(chain_, segments); }
  const Chain& chain() const { return chain_; }
  std::size_t stage_count() const { return chain_.size(); }
  const ChainChoice& keep_all() const { return known_.front(); }
  // Finds a schedule for each step of the tables, of which there may be hundreds: where nothing is
  // carried and no row has too many steps, all that are the fastest within some limit.
  void FindAll();
  // Those that were found so far, for whatever limit.
  const std::vector<ChainChoice>& found() const { return found_; }
  // Returns a planner of the chain as if all outputs were kept; null where it is much the same.
  // Which of the sums in a row are rematerialized, and how many of them are live together, depends
  // on where segments end: so either may have the schedules that take the least in fact.
  ChainPlanner* AsIfKept();
  // Those that know only the number of stages, and keeping all.
  const std::vector<ChainChoice>& known() const { return known_; }

 private:
  void Solve(std::int64_t peak_bytes);
  ChainChoice FindLeast();
  ChainChoice LeastSolved();
  ChainChoice Scheduled(ChainSolver& solver, std::int64_t limit) const;
  // Returns the cost of what a solver schedules within a limit, which is then among found_.
  const ChainCost& FindWithin(std::size_t solver, std::int64_t limit);
  // Returns the seconds of all forward passes of stages [begin, end), those that come again too,
  // but for how sums are rounded those of Simulate.
  double ForwardSeconds(std::size_t begin, std::size_t end,
                        const CheckpointSegments& segments) const;
  // Returns how much longer the forward pass of the last of these stages takes where it ends what
  // runs again. It is mostly shorter then, which is negative.
  double SecondsMoreAtEnd(std::size_t end) const {
    const ChainStage& last = chain_.stages[end - 1];
    return last.ending_seconds - last.forward_seconds;
  }
  double SecondsSaved(const CheckpointSegments& segments, const ScheduleMove& move) const;
  // Lists the moves of a schedule, those that save most time first.
  std::vector<ScheduleMove> FastestFirst(const CheckpointSegments& segments) const;
  void AddKnown(CheckpointSegments segments, std::string method);

  Chain chain_;
  std::vector<double> seconds_before_;  // of forward passes of the stages before each
  std::int64_t carried_bytes_ = 0;      // of all values together
  std::vector<ChainSolver> solvers_;    // one, or two where values are carried
  std::vector<ChainChoice> known_;
  std::vector<ChainChoice> found_;  // see found()
  // Says where in found_ the schedule of a solver's entry is.
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> found_within_;
  std::optional<ChainChoice> least_;          // found when it is first asked for
  std::unique_ptr<ChainPlanner> as_if_kept_;  // made when it is first asked for
};

}  // namespace frugal
