#include "sdk/plan/chain_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "sdk/plan/chain_solver.h"

namespace frugal {
namespace {

using std::int64_t;

constexpr ChainStep kNothing{0, 0};
constexpr ChainPart kNoPart{{&kNothing, 1}, 0};

}  // namespace

template <class Body>
void ChainTable::ForEachSegment(const Run& run, const Body& body) const {
  const std::size_t s = run.first, t = run.last;
  const int64_t given = Given(s, t) + Waiting(run), input = InputBytesAgain(run);
  Passed passed;
  for (std::size_t next = s + 1; next <= t; ++next) {
    Extend(passed, next - 1, next == s + 1 ? InputBytes(run) : HandedOn(s, next - 2));
    if (passed.bytes + given > limit_bytes_) return;  // a longer one needs no less
    if (IsLeftOut(s, next, t)) continue;
    body(Way{.kind = Way::Kind::kSegment,
             .next = next,
             .seconds = passed.seconds,
             .least_bytes = passed.bytes + given,
             .rest = {At({next, t}), SegmentNeeds(s, next - 1)},
             .again = {At({s, next - 1}), input}});
  }
}

template <class Body>
void ChainTable::ForEachWay(const Run& run, const Body& body) const {
  const std::size_t s = run.first, t = run.last;
  const ChainUnit& unit = units_[s];
  const Needs needs = KeepNeeds(run);
  Way kept{.next = s + 1,
           .least_bytes = std::max({needs.least, needs.kept, int64_t{0}}),
           .rest = kNoPart,
           .again = kNoPart};
  if (s == t) {
    kept.seconds = unit.stage.ending_seconds + unit.stage.backward_seconds;
    body(kept);
  } else if (!IsLeftOut(s, s + 1, t)) {
    kept.seconds = unit.stage.forward_seconds + unit.stage.backward_seconds;
    kept.rest = {At(BehindKept(run)), needs.kept};
    body(kept);
  }
  if (s == t && unit.inside != nullptr) {
    body(Way{.kind = Way::Kind::kInside,
             .next = s + 1,
             .rest = {unit.inside->steps(), InputBytesAgain(run)},
             .again = kNoPart});
  }
  ForEachSegment(run, body);
  if (!MayBeOneSegment(run)) return;
  const Passed passed = PassedAsOne(run);
  body(Way{.kind = Way::Kind::kAsOneSegment,
           .next = t + 1,
           .seconds = passed.seconds,
           .least_bytes = passed.bytes + Given(s, t) + Waiting(run),
           .rest = kNoPart,
           .again = {At({s, t}), InputBytesAgain(run)}});
}

ChainTable::ChainTable(std::vector<ChainUnit> units, const std::vector<CountedSkip>& carried,
                       int64_t limit_bytes, Precision precision, int64_t waiting_bytes)
    : units_(std::move(units)), limit_bytes_(limit_bytes), waiting_bytes_(waiting_bytes) {
  FindInputs();
  CountSkips(carried);
  const std::vector<Run> runs = NumberRows();
  rows_.resize(runs.size());
  const std::size_t most_of_row =
      std::min(precision.most_of_row, precision.most_steps / std::max<std::size_t>(1, runs.size()));
  FastestSteps row(limit_bytes_);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    row.Clear();
    ForEachWay(runs[i], [&](const Way& way) {
      row.Take(way.seconds, way.least_bytes, way.rest, way.again);
    });
    row.Thin(most_of_row, precision.rounding);
    rows_[i] = row.steps();
  }
  if (units_.empty()) rows_ = {{ChainStep{}}};
}

std::vector<ChainTable::Run> ChainTable::NumberRows() {
  const std::size_t count = units_.size();
  const EqualRuns equal = FindEqualRuns();
  std::map<std::tuple<std::size_t, RematState, int64_t, int64_t>, std::size_t> numbers;
  std::vector<Run> first;
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t s = t + 1; s-- > 0;) {
      for (const auto& [state, bytes] : inputs_[s]) {
        const Run run{s, t, state};
        const std::tuple kind(equal.numbers[s * count + t], state, InputBytes(run),
                              InputBytesAgain(run));
        const auto [at, is_new] = numbers.try_emplace(kind, first.size());
        if (is_new) first.push_back(run);
        if (row_of_.size() <= state) {
          row_of_.resize(state + 1, std::vector<std::size_t>(count * count));
        }
        row_of_[state][s * count + t] = at->second;
      }
    }
  }
  return first;
}

void ChainTable::CountSkips(const std::vector<CountedSkip>& carried) {
  const std::size_t count = units_.size();
  std::vector<SkipConnection> all, beside, in_place, between;
  made_.resize(count);
  for (const auto& [skip, gradients, maker] : carried) {
    if (maker != SkipMaker::kAny) by_maker_.push_back({skip, gradients, maker});
    all.push_back(skip);
    (gradients == SkipGradients::kBetween ? between : beside).push_back(skip);
    if (gradients == SkipGradients::kInPlace) in_place.push_back(skip);
    if (gradients == SkipGradients::kBeside) made_[skip.made] += skip.bytes;
  }
  const auto past_runs = [&](const std::vector<SkipConnection>& skips) {
    std::vector<std::int64_t> bytes(count * count);
    for (std::size_t i = 0; i < bytes.size() && !skips.empty(); ++i) {
      bytes[i] = LiveSkipBytes(skips, i / count, i % count + 1);
    }
    return bytes;
  };
  values_ = past_runs(all);
  beside_ = past_runs(beside);
  in_place_ = past_runs(in_place);
  for (std::size_t i = 0; i < count; ++i) between_.push_back(LiveSkipBytes(between, 0, i + 1));
}

bool ChainTable::IsLeftOut(std::size_t s, std::size_t next, std::size_t t) const {
  return std::ranges::any_of(by_maker_, [&](const CountedSkip& one) {
    const auto& [made, taken, bytes] = one.skip;
    const bool is_cut = s <= made && made < next && next <= taken && taken <= t;
    return is_cut && (made + 1 == next) != (one.maker == SkipMaker::kHeld);
  });
}

void ChainTable::FindInputs() {
  inputs_.assign(units_.size(), {{0, Input{}}});
  for (std::size_t i = 0; i + 1 < units_.size(); ++i) {
    for (const auto& [state, input] : inputs_[i]) {
      const TapedBytes taped = TapedBytesOf(units_[i].stage, state);
      if (OutputState(taped) == 0) continue;
      inputs_[i + 1][OutputState(taped)] = {taped.rematerialized_bytes, RowBytes(taped)};
    }
  }
}

// Runs are equal where all but their last units are, all but their first ones, and what they carry
// as a whole.
ChainTable::EqualRuns ChainTable::FindEqualRuns() const {
  const std::size_t count = units_.size();
  EqualRuns runs{.numbers = std::vector<std::size_t>(count * count)};
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_apart = std::ranges::any_of(by_maker_, [&](const CountedSkip& one) {
      return one.skip.made == i || one.skip.taken == i;
    });
    const bool is_last = waiting_bytes_ > 0 && i + 1 == count;  // what waits is for that
    std::size_t equal = is_apart || is_last ? i : 0;
    while (equal < i &&
           !(units_[equal].stage == units_[i].stage && units_[equal].inside == units_[i].inside &&
             between_[equal] == between_[i])) {
      ++equal;
    }
    runs.numbers[i * count + i] = equal < i ? runs.numbers[equal * count + equal] : runs.count++;
  }
  using Bytes = std::array<std::int64_t, 3>;
  std::map<std::tuple<std::size_t, std::size_t, Bytes>, std::size_t> known;
  for (std::size_t length = 2; length <= count; ++length) {
    known.clear();
    for (std::size_t s = 0; s + length <= count; ++s) {
      const std::size_t t = s + length - 1;
      const auto [at, is_new] =
          known.try_emplace({runs.numbers[s * count + t - 1], runs.numbers[(s + 1) * count + t],
                             Bytes{HandedOn(s, t), Beside(s, t), InPlace(s, t)}},
                            runs.count);
      runs.count += is_new ? 1 : 0;
      runs.numbers[s * count + t] = at->second;
    }
  }
  return runs;
}

ChainTable::Needs ChainTable::KeepNeeds(const Run& run) const {
  const TapedBytes taped = FirstOf(run);
  const bool ends = run.first == run.last;
  const int64_t workspace = ends ? taped.ending_workspace : taped.forward_workspace;
  const int64_t back = ends ? taped.ending_backward_workspace : taped.backward_workspace;
  const int64_t forward =
      Given(run.first, run.last) + Waiting(run) + InputBytes(run) + taped.saved_bytes + workspace;
  const int64_t backward =
      KeptBytes(taped) + units_[run.first].stage.output_bytes + back + between_[run.first];
  return {KeptBytes(taped) + GradientsBeside(run.first, run.last), std::max(forward, backward)};
}

int64_t ChainTable::GradientsBeside(std::size_t unit, std::size_t last) const {
  if (unit == last) return 0;
  return made_[unit] + InPlace(unit, last) - InPlace(unit + 1, last);
}

void ChainTable::Extend(Passed& passed, std::size_t unit, int64_t input) const {
  const ChainStage& stage = units_[unit].stage;
  passed.seconds += stage.forward_seconds;
  passed.bytes = std::max(passed.bytes, input + stage.output_bytes + stage.plain_workspace);
}

ChainTable::Passed ChainTable::PassedAsOne(const Run& run) const {
  Passed passed;
  for (std::size_t i = run.first; i <= run.last; ++i) {
    Extend(passed, i, i == run.first ? InputBytes(run) : HandedOn(run.first, i - 1));
  }
  return passed;
}

double ChainTable::SecondsOf(const Way& way, int64_t bytes) {
  if (bytes < way.least_bytes) return kNeverSeconds;
  return way.seconds + (SecondsWithin(way.rest.steps, bytes - way.rest.beside) +
                        SecondsWithin(way.again.steps, bytes - way.again.beside));
}

CheckpointSegments ChainTable::Schedule(int64_t bytes) const {
  CheckpointSegments segments;
  if (!units_.empty()) Extract({0, units_.size() - 1}, bytes, segments);
  return segments;
}

// The choices again, the first of the fastest: keeping is preferred.
void ChainTable::Extract(Run run, int64_t bytes, CheckpointSegments& into) const {
  while (true) {
    Way best;
    double seconds = kNeverSeconds;
    ForEachWay(run, [&](const Way& way) {
      const double other = SecondsOf(way, bytes);
      if (other >= seconds * (1 - 1e-13)) return;
      seconds = other;
      best = way;
    });
    if (best.kind == Way::Kind::kInside) {
      for (const CheckpointSegment& segment :
           units_[run.first].inside->Schedule(bytes - best.rest.beside)) {
        into.push_back(Shifted(segment, units_[run.first].begin));
      }
      return;
    }
    if (best.kind != Way::Kind::kKept) {
      CheckpointSegment segment{units_[run.first].begin, units_[best.next - 1].end};
      Extract({run.first, best.next - 1}, bytes - best.again.beside, segment.inner);
      into.push_back(std::move(segment));
    }
    if (best.next > run.last) return;
    run = best.kind == Way::Kind::kKept ? BehindKept(run) : Run{best.next, run.last};
    bytes -= best.rest.beside;
  }
}

std::size_t ChainTable::step_count() const {
  std::size_t total = 0;
  for (const ChainSteps& row : rows_) total += row.size();
  return total;
}

}  // namespace frugal
