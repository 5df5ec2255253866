#include "sdk/plan/chain_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace frugal {
namespace {

using std::int64_t;

std::vector<ChainUnit> UnitsOf(const Chain& chain) {
  std::vector<ChainUnit> units;
  for (std::size_t i = 0; i < chain.size(); ++i) units.push_back({i, i + 1, chain.stages[i]});
  return units;
}

// Returns the least of what a stage holds while nothing reads its output, in any state of its
// input.
int64_t LeastKept(const ChainStage& stage) {
  int64_t least = KeptBytes(TapedBytesOf(stage, 0));
  for (const TapedBytes& taped : stage.by_input_state) least = std::min(least, KeptBytes(taped));
  return least;
}

// Returns the least of what is live at a stage's backward pass, whatever else is.
int64_t LeastInBackward(const ChainStage& stage) {
  const auto own = [&](const TapedBytes& taped) {
    return KeptBytes(taped) + stage.output_bytes +
           std::min(taped.backward_workspace, taped.ending_backward_workspace);
  };
  int64_t least = own(TapedBytesOf(stage, 0));
  for (const TapedBytes& taped : stage.by_input_state) least = std::min(least, own(taped));
  return least;
}

std::vector<CountedSkip> AllCounted(const Chain& chain, SkipGradients gradients) {
  std::vector<CountedSkip> all;
  for (const SkipConnection& one : chain.carried) all.push_back({one, gradients});
  return all;
}

// Leaves those schedules that hold a value's maker so, and counts what there is of the value in
// them.
void Hold(CountedSkip& one, SkipMaker maker) {
  one.maker = maker;
  one.gradients = maker == SkipMaker::kHeld ? SkipGradients::kBetween : SkipGradients::kInPlace;
}

// Returns where the maker is in the schedule's first cut between it and the stage that takes its
// value.
SkipMaker MakerIn(const CheckpointSegments& segments, const SkipConnection& skip) {
  for (const CheckpointSegment& one : segments) {
    if (skip.made < one.begin || skip.made >= one.end) continue;
    if (skip.taken < one.end) return MakerIn(one.inner, skip);
    return skip.made + 1 == one.end ? SkipMaker::kHeld : SkipMaker::kInside;
  }
  return SkipMaker::kHeld;
}

// Returns what is counted with the makers of some held as in a schedule.
std::vector<CountedSkip> HeldAsIn(const CheckpointSegments& schedule,
                                  std::vector<CountedSkip> counted,
                                  const std::vector<std::size_t>& some) {
  for (const std::size_t i : some) Hold(counted[i], MakerIn(schedule, counted[i].skip));
  return counted;
}

// Returns the one of some that is carried past the most stages.
CountedSkip& Longest(std::vector<CountedSkip>& counted, const std::vector<std::size_t>& some) {
  const auto length = [&](std::size_t i) { return counted[i].skip.taken - counted[i].skip.made; };
  return counted[*std::ranges::max_element(some, {}, length)];
}

}  // namespace

ChainBound::ChainBound(Chain chain, int64_t most_bytes)
    : chain_(std::move(chain)), most_bytes_(most_bytes) {
  if (chain_.stages.empty() || chain_.size() > kMostStages) return;
  root_ = AllCounted(chain_, SkipGradients::kInPlace);
  table_.emplace(TableOf(root_, 1));
  if (root_.empty()) return;
  std::vector<CountedSkip> between = AllCounted(chain_, SkipGradients::kBetween);
  ChainTable other = TableOf(between, 1);
  if (SecondsWithin(other.steps(), most_bytes) <= LeastSeconds(most_bytes)) return;
  root_ = std::move(between);
  table_.emplace(std::move(other));
}

ChainTable ChainBound::TableOf(const std::vector<CountedSkip>& counted, std::size_t coarser) const {
  // As many steps take a fraction of a second and some tens of MB.
  constexpr std::size_t kMostSteps = 2'000'000, kMostOfRow = 4000;
  return {UnitsOf(chain_),
          counted,
          most_bytes_,
          {kMostSteps / coarser, kMostOfRow / coarser, StepRounding::kDown},
          chain_.waiting_bytes};
}

const ChainTable& ChainBound::BranchTable(const std::vector<CountedSkip>& counted) {
  std::vector<std::pair<SkipGradients, SkipMaker>> key;
  key.reserve(counted.size());
  for (const CountedSkip& one : counted) key.emplace_back(one.gradients, one.maker);
  const auto known = branch_tables_.find(key);
  if (known != branch_tables_.end()) return known->second;
  constexpr std::size_t kCoarser = 4;  // there are many
  ChainTable table = TableOf(counted, kCoarser);
  constexpr std::size_t kMostSteps = 3'000'000;  // some tens of MB
  if (branch_steps_ + table.step_count() > kMostSteps) {
    branch_tables_.clear();
    branch_steps_ = 0;
  }
  branch_steps_ += table.step_count();
  return branch_tables_.emplace(std::move(key), std::move(table)).first->second;
}

int ChainBound::MostTables() const {
  constexpr std::size_t kSteps = 3'000'000, kFew = 16, kMany = 500;
  return static_cast<int>(
      std::clamp(kSteps / std::max<std::size_t>(1, table_->step_count()), kFew, kMany));
}

ChainBound::Branch ChainBound::BranchOf(std::vector<CountedSkip> counted, const ChainTable& table,
                                        int64_t peak_bytes) {
  Branch branch{.counted = std::move(counted),
                .seconds = SecondsWithin(table.steps(), peak_bytes),
                .fastest = {}};
  if (std::isfinite(branch.seconds)) branch.fastest = table.Schedule(peak_bytes);
  return branch;
}

std::vector<std::size_t> ChainBound::Miscounted(const Branch& branch) const {
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < branch.counted.size(); ++i) {
    const CountedSkip& one = branch.counted[i];
    if (one.maker != SkipMaker::kAny || one.skip.taken >= chain_.size()) continue;
    const bool is_held = MakerIn(branch.fastest, one.skip) == SkipMaker::kHeld;
    if (is_held != (one.gradients == SkipGradients::kBetween)) some.push_back(i);
  }
  return some;
}

ChainBound::Branched ChainBound::BranchAndBound(int64_t peak_bytes, double enough,
                                                Branches branches) {
  if (!table_) return {.seconds = LeastSeconds(peak_bytes), .fastest = {}};
  const int most_tables = branches == Branches::kMany ? MostTables() : 0;
  int tables = 0;
  const auto branch_of = [&](std::vector<CountedSkip> counted) {
    ++tables;
    const ChainTable& table = BranchTable(counted);
    return BranchOf(std::move(counted), table, peak_bytes);
  };
  const auto slower = [](const Branch& a, const Branch& b) { return a.seconds > b.seconds; };
  std::vector<Branch> heap;
  heap.push_back(BranchOf(root_, *table_, peak_bytes));
  while (true) {
    std::ranges::pop_heap(heap, slower);
    const Branch least = std::move(heap.back());
    heap.pop_back();
    if (least.seconds >= enough) return {least.seconds, least.fastest, false};
    const std::vector<std::size_t> miscounted = Miscounted(least);
    const bool fits = Simulate(chain_, least.fastest).peak_bytes <= peak_bytes;
    if (fits || miscounted.empty()) return {least.seconds, least.fastest, true};
    if (tables >= most_tables) return {least.seconds, least.fastest, false};
    if (tables == 0) {
      // The bound is what those schedules take that hold all as the fastest does, if no more.
      Branch alike = branch_of(HeldAsIn(least.fastest, least.counted, miscounted));
      if (alike.seconds <= least.seconds) return {least.seconds, std::move(alike.fastest), true};
    }
    for (const SkipMaker maker : {SkipMaker::kHeld, SkipMaker::kInside}) {
      std::vector<CountedSkip> counted = least.counted;
      Hold(Longest(counted, miscounted), maker);
      heap.push_back(branch_of(std::move(counted)));
      heap.back().seconds = std::max(heap.back().seconds, least.seconds);
      std::ranges::push_heap(heap, slower);
    }
  }
}

double ChainBound::LeastSeconds(int64_t peak_bytes) const {
  return table_ ? SecondsWithin(table_->steps(), peak_bytes) : LeastSecondsByKeeping(peak_bytes);
}

int64_t ChainBound::LeastBytes() const {
  if (table_) return table_->steps().empty() ? most_bytes_ + 1 : table_->steps().front().bytes;
  int64_t least = 0;
  for (const ChainStage& stage : chain_.stages) least = std::max(least, LeastInBackward(stage));
  return least;
}

// When the backward pass begins, stages are there that ran on a tape and no others; the rest run
// again. Which are best kept is a knapsack, bounded by taking parts of stages too: all that take
// nothing, then those first that spare the most time for a byte.
double ChainBound::LeastSecondsByKeeping(int64_t peak_bytes) const {
  if (LeastBytes() > peak_bytes) return std::numeric_limits<double>::infinity();
  double seconds = 0;
  auto left = static_cast<double>(peak_bytes);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    const ChainStage& stage = chain_.stages[i];
    if (LeastKept(stage) > 0) {
      order.push_back(i);
      continue;
    }
    seconds += stage.forward_seconds + stage.backward_seconds;
    left -= static_cast<double>(LeastKept(stage));
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const ChainStage &one = chain_.stages[a], &other = chain_.stages[b];
    return one.ending_seconds * static_cast<double>(LeastKept(other)) >
           other.ending_seconds * static_cast<double>(LeastKept(one));
  });
  for (const std::size_t i : order) {
    const ChainStage& stage = chain_.stages[i];
    const auto bytes = static_cast<double>(LeastKept(stage));
    const double kept = bytes > left ? left / bytes : 1;
    seconds += stage.forward_seconds + stage.ending_seconds * (1 - kept) + stage.backward_seconds;
    left -= kept * bytes;
  }
  return seconds;
}

}  // namespace frugal
