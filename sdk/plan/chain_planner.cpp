#include "sdk/plan/chain_planner.h"

#include <algorithm>
#include <cmath>

#include "sdk/plan/known_schedules.h"

namespace frugal {
namespace {

// 1, 2, 3, ... and then in steps of an eighth, below `end`.
std::vector<std::size_t> Spread(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = begin; i < end; i += 1 + i / 8) numbers.push_back(i);
  return numbers;
}

// With few snapshots, each of many stages would run hundreds of times; planning that alone takes
// minutes.
constexpr std::size_t kManyStages = 200, kMostRuns = 8;

// How often the binomial schedule runs a stage at most: the least r for which (s + r)! / (s! r!) is
// as many as the stages.
std::size_t RunsOfBinomial(std::size_t stages, std::size_t snapshots) {
  std::size_t runs = 0;
  double reach = 1;
  while (reach < static_cast<double>(stages)) {
    ++runs;
    reach *= static_cast<double>(snapshots + runs) / static_cast<double>(runs);
  }
  return runs;
}

}  // namespace

ChainPlanner::ChainPlanner(std::vector<ChainStage> chain)
    : chain_(std::move(chain)), solver_(chain_) {
  AddKnown({}, "keep all");
  const std::size_t before_last = chain_.empty() ? 0 : chain_.size() - 1;
  for (const bool keep_last : {false, true}) {
    AddKnown(SqrtN(before_last, keep_last), "sqrt(n)");
    for (const std::size_t length : Spread(1, before_last + 1)) {
      AddKnown(EveryN(before_last, length, keep_last), "every " + std::to_string(length));
    }
  }
  for (const std::size_t snapshots : Spread(1, std::min<std::size_t>(64, chain_.size()))) {
    if (chain_.size() > kManyStages && RunsOfBinomial(chain_.size(), snapshots) > kMostRuns)
      continue;
    AddKnown(Binomial(chain_.size(), snapshots), "binomial " + std::to_string(snapshots));
  }
}

void ChainPlanner::AddKnown(CheckpointSegments segments, std::string method) {
  const ChainCost cost = Simulate(chain_, segments);
  known_.push_back({std::move(segments), cost, std::move(method)});
}

ChainChoice ChainPlanner::Solved(std::int64_t peak_bytes) {
  ChainChoice choice{solver_.Schedule(peak_bytes), {}, std::string(kOptimal)};
  choice.cost = Simulate(chain_, choice.segments);
  return choice;
}

std::optional<ChainChoice> ChainPlanner::Fastest(std::int64_t peak_bytes) {
  std::optional<ChainChoice> best;
  if (keep_all().cost.peak_bytes <= peak_bytes) return keep_all();
  if (std::isfinite(solver_.Seconds(peak_bytes))) best = Solved(peak_bytes);
  for (const ChainChoice& choice : known_) {
    if (choice.cost.peak_bytes > peak_bytes) continue;
    if (!best || choice.cost.seconds < best->cost.seconds) best = choice;
  }
  if (best) return best;
  // What a schedule takes is rounded up while they are solved for.
  ChainChoice least = Least();
  if (least.cost.peak_bytes <= peak_bytes) best = std::move(least);
  return best;
}

ChainChoice ChainPlanner::Least() {
  ChainChoice least = Solved(solver_.LeastBytes());
  for (const ChainChoice& choice : known_) {
    if (choice.cost.peak_bytes < least.cost.peak_bytes) least = choice;
  }
  return least;
}

}  // namespace frugal
