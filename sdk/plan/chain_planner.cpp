#include "sdk/plan/chain_planner.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "sdk/plan/baseline_schedules.h"
#include "sdk/plan/local_search_moves.h"

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

std::vector<std::int64_t> Between(std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kSteps = 16;
  std::vector<std::int64_t> numbers = {begin};
  for (std::int64_t i = 1; i <= kSteps && begin < end; ++i) {
    numbers.push_back(begin + (end - begin) * i / kSteps);
  }
  return numbers;
}

// Less memory, or as much in less time.
bool NeedsLess(const ChainChoice& one, const ChainChoice& other) {
  return std::tie(one.cost.peak_bytes, one.cost.seconds) <
         std::tie(other.cost.peak_bytes, other.cost.seconds);
}

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

ChainPlanner::ChainPlanner(Chain chain) : chain_(std::move(chain)) {
  for (const SkipConnection& value : chain_.carried) carried_bytes_ += value.bytes;
  seconds_before_ = {0};
  for (const ChainStage& stage : chain_.stages) {
    seconds_before_.push_back(seconds_before_.back() + stage.forward_seconds);
  }
  solvers_.emplace_back(chain_);
  if (carried_bytes_ > 0) solvers_.emplace_back(chain_, SkipGradients::kBeside);
  AddKnown({}, "keep all");
  const std::size_t before_last = chain_.stages.empty() ? 0 : chain_.size() - 1;
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

ChainChoice ChainPlanner::Scheduled(ChainSolver& solver, std::int64_t limit) const {
  ChainChoice choice{solver.Schedule(limit), {}, std::string(kOptimal)};
  choice.cost = CostOf(choice.segments);
  return choice;
}

const ChainCost& ChainPlanner::FindWithin(std::size_t solver, std::int64_t limit) {
  const std::pair key(solver, solvers_[solver].EntryFor(limit));
  const auto known = found_within_.find(key);
  if (known != found_within_.end()) return found_[known->second].cost;
  found_.push_back(Scheduled(solvers_[solver], limit));
  found_within_.emplace(key, found_.size() - 1);
  return found_.back().cost;
}

// Tables may count too little or too much of what is carried, and too much of a run that is cut, so
// they are asked for limits on either side. What does not fit may do so within another limit.
void ChainPlanner::Solve(std::int64_t peak_bytes) {
  double seconds = std::numeric_limits<double>::infinity();  // of the fastest that fits
  for (std::size_t solver = 0; solver < solvers_.size(); ++solver) {
    const std::int64_t begin = std::max<std::int64_t>(0, peak_bytes - carried_bytes_);
    const std::int64_t end =
        peak_bytes + carried_bytes_ + solvers_[solver].OverestimateWithin(peak_bytes);
    std::vector<std::int64_t> limits = Between(begin, end);
    limits.insert(std::ranges::upper_bound(limits, peak_bytes), peak_bytes);
    for (const std::int64_t limit : limits) {
      if (solvers_[solver].Seconds(limit) >= seconds) continue;
      const ChainCost& cost = FindWithin(solver, limit);
      if (cost.peak_bytes <= peak_bytes) seconds = std::min(seconds, cost.seconds);
    }
  }
}

void ChainPlanner::FindAll() {
  for (std::size_t solver = 0; solver < solvers_.size(); ++solver) {
    for (const ChainStep& step : solvers_[solver].steps()) FindWithin(solver, step.bytes);
  }
}

double ChainPlanner::ForwardSeconds(std::size_t begin, std::size_t end,
                                    const CheckpointSegments& segments) const {
  double seconds = seconds_before_[end] - seconds_before_[begin];
  if (segments.empty() || segments.back().end < end) seconds += SecondsMoreAtEnd(end);
  for (const CheckpointSegment& segment : segments) {
    seconds += ForwardSeconds(segment.begin, segment.end, segment.inner);
  }
  return seconds;
}

double ChainPlanner::SecondsSaved(const CheckpointSegments& segments,
                                  const ScheduleMove& move) const {
  const CheckpointSegments* list = &segments;
  std::size_t end = chain_.size();  // of what holds the segment
  for (std::size_t i = 0; i + 1 < move.path.size(); ++i) {
    const CheckpointSegment& holder = (*list)[move.path[i]];
    end = holder.end;
    list = &holder.inner;
  }
  const CheckpointSegment& changed = (*list)[move.path.back()];
  const auto seconds = [&](const CheckpointSegment& one) {
    return ForwardSeconds(one.begin, one.end, one.inner);
  };
  double saved = seconds(changed);
  const CheckpointSegments replacement = ReplacementOf(changed, move);
  for (const CheckpointSegment& one : replacement) saved -= seconds(one);
  const bool is_kept_now =
      changed.end == end && (replacement.empty() || replacement.back().end < end);
  return is_kept_now ? saved - SecondsMoreAtEnd(end) : saved;
}

std::vector<ScheduleMove> ChainPlanner::FastestFirst(const CheckpointSegments& segments) const {
  std::vector<ScheduleMove> moves = MovesOf(segments);
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(moves.size());
  for (std::size_t i = 0; i < moves.size(); ++i) {
    order.emplace_back(-SecondsSaved(segments, moves[i]), i);
  }
  std::ranges::sort(order);
  std::vector<ScheduleMove> ordered;
  ordered.reserve(moves.size());
  for (const auto& [seconds, i] : order) ordered.push_back(std::move(moves[i]));
  return ordered;
}

ChainChoice ChainPlanner::Shortened(ChainChoice choice, std::int64_t peak_bytes) const {
  if (chain_.size() > ChainSolver::kMostUnits) return choice;  // would take long
  for (bool is_faster = true; is_faster;) {
    is_faster = false;
    for (const ScheduleMove& move : FastestFirst(choice.segments)) {
      CheckpointSegments segments = Moved(choice.segments, move);
      const ChainCost cost = SimulateWithin(chain_, segments, peak_bytes);
      if (cost.peak_bytes > peak_bytes || cost.seconds >= choice.cost.seconds) continue;
      choice.segments = std::move(segments);
      choice.cost = cost;
      is_faster = true;
      break;
    }
  }
  return choice;
}

ChainChoice ChainPlanner::LeastSolved() {
  std::optional<ChainChoice> least;
  for (ChainSolver& solver : solvers_) {
    const std::int64_t begin = solver.LeastBytes();
    for (const std::int64_t limit : Between(begin, begin + carried_bytes_)) {
      if (std::isinf(solver.Seconds(limit))) continue;
      ChainChoice choice = Scheduled(solver, limit);
      if (!least || NeedsLess(choice, *least)) least = std::move(choice);
    }
  }
  return *least;
}

ChainPlanner* ChainPlanner::AsIfKept() {
  if (as_if_kept_) return as_if_kept_.get();
  Chain kept = chain_;
  std::int64_t rematerialized = 0;
  for (ChainStage& stage : kept.stages) {
    const std::int64_t bytes = std::exchange(stage.rematerialized_bytes, 0);
    for (std::int64_t* const workspace :
         {&stage.backward_workspace, &stage.ending_backward_workspace}) {
      *workspace = std::max<std::int64_t>(0, *workspace - bytes);
    }
    stage.row_bytes = 0;
    stage.output_state = 0;
    stage.by_input_state.clear();
    rematerialized += bytes;
  }
  if (rematerialized <= keep_all().cost.peak_bytes / 8) return nullptr;
  as_if_kept_ = std::make_unique<ChainPlanner>(std::move(kept));
  return as_if_kept_.get();
}

std::optional<ChainChoice> ChainPlanner::Fastest(std::int64_t peak_bytes) {
  if (keep_all().cost.peak_bytes <= peak_bytes) return keep_all();
  Solve(peak_bytes);
  const ChainChoice* best = nullptr;
  for (const std::vector<ChainChoice>* choices : {&found_, &known_}) {
    for (const ChainChoice& choice : *choices) {
      if (choice.cost.peak_bytes > peak_bytes) continue;
      if (!best || choice.cost.seconds < best->cost.seconds) best = &choice;
    }
  }
  if (best) {
    found_.push_back(Shortened(*best, peak_bytes));
    return found_.back();
  }
  // Tables may count too much of what a schedule takes.
  ChainChoice least = Least();
  if (least.cost.peak_bytes > peak_bytes) return std::nullopt;
  return least;
}

ChainChoice ChainPlanner::Least() {
  if (!least_) least_ = FindLeast();
  return *least_;
}

ChainChoice ChainPlanner::FindLeast() {
  ChainChoice least = LeastSolved();
  for (const ChainChoice& choice : known_) {
    if (NeedsLess(choice, least)) least = choice;
  }
  const std::int64_t peak_bytes = least.cost.peak_bytes;
  return Shortened(std::move(least), peak_bytes);
}

}  // namespace frugal
