#include "sdk/plan/chain_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "sdk/plan/chain_solver.h"

namespace frugal {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// A segment that begins a run, with seconds by slots of what is behind it and of itself again.
struct Segment {
  double seconds = 0;
  const double* rest = nullptr;
  const double* again = nullptr;
  std::size_t least = 0;  // slots that it takes, no more than a row has

  double At(std::size_t slots) const { return seconds + rest[slots] + again[slots]; }
};

void TakeFaster(const Segment& segment, std::size_t begin, std::size_t end,
                std::span<double> best) {
  for (std::size_t m = begin; m < end; ++m) best[m] = std::min(best[m], segment.At(m));
}

// Rows come from beyond the second cache: those of several segments are waited for together.
void TakeFastest(const std::array<Segment, 4>& some, std::span<double> best) {
  std::size_t all = 0;
  for (const Segment& segment : some) all = std::max(all, segment.least);
  for (const Segment& segment : some) TakeFaster(segment, segment.least, all, best);
  double* const to = best.data();
  for (std::size_t m = all; m < best.size(); ++m) {
    const double two = std::min(some[0].At(m), some[1].At(m));
    to[m] = std::min(to[m], std::min(two, std::min(some[2].At(m), some[3].At(m))));
  }
}

}  // namespace

ChainTable::ChainTable(std::vector<ChainUnit> units, const std::vector<CountedSkip>& carried,
                       std::int64_t limit_bytes, std::size_t slots, SlotRounding rounding,
                       std::int64_t waiting_bytes)
    : units_(std::move(units)),
      rounding_(rounding),
      waiting_bytes_(waiting_bytes),
      slots_(slots),
      slot_bytes_(std::max<std::int64_t>(1, (limit_bytes + static_cast<std::int64_t>(slots) - 1) /
                                                static_cast<std::int64_t>(slots))) {
  const std::size_t count = units_.size();
  FindInputs();
  CountSkips(carried);
  // Rows are numbered before they are filled: all lie in one block, which has room for these.
  const EqualRuns equal = FindEqualRuns();
  std::map<std::tuple<std::size_t, RematState, std::int64_t, std::int64_t>, std::size_t> numbers;
  const auto number_of = [&](const Run& run) {
    const std::size_t runs = equal.numbers[run.first * count + run.last];
    return numbers
        .try_emplace({runs, run.input, InputBytes(run), InputBytesAgain(run)}, numbers.size())
        .first->second;
  };
  const auto for_all = [&](const auto& body) {
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t s = t + 1; s-- > 0;) {
        for (const auto& [state, bytes] : inputs_[s]) body(Run{s, t, state});
      }
    }
  };
  for_all([&](const Run& run) {
    number_of(run);
    if (rows_.size() <= run.input) rows_.resize(run.input + 1, std::vector<Row>(count * count));
  });
  seconds_.assign(numbers.size() * (slots_ + 1), kNever);
  std::vector<bool> is_filled(numbers.size());
  for_all([&](const Run& run) {
    const std::size_t number = number_of(run);
    const Row row = {&seconds_[number * (slots_ + 1)], slots_ + 1};
    rows_[run.input][run.first * count + run.last] = row;
    if (!is_filled[number]) Fill(run, row);
    is_filled[number] = true;
  });
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

std::ptrdiff_t ChainTable::SlotsKeptFor(std::int64_t bytes) const {
  if (bytes >= 0) return static_cast<std::ptrdiff_t>(SlotsFor(bytes));
  const std::int64_t up = rounding_ == SlotRounding::kDown ? slot_bytes_ - 1 : 0;
  return -static_cast<std::ptrdiff_t>((up - bytes) / slot_bytes_);
}

std::size_t ChainTable::SlotsIn(std::int64_t bytes) const {
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(bytes / slot_bytes_, 0, static_cast<std::int64_t>(slots_)));
}

ChainTable::Needs ChainTable::KeepNeeds(const Run& run) const {
  const TapedBytes taped = FirstOf(run);
  const bool ends = run.first == run.last;
  const std::int64_t workspace = ends ? taped.ending_workspace : taped.forward_workspace;
  const std::int64_t back = ends ? taped.ending_backward_workspace : taped.backward_workspace;
  const std::int64_t forward =
      Given(run.first, run.last) + Waiting(run) + InputBytes(run) + taped.saved_bytes + workspace;
  const std::int64_t backward =
      KeptBytes(taped) + units_[run.first].stage.output_bytes + back + between_[run.first];
  return {SlotsKeptFor(KeptBytes(taped) + GradientsBeside(run.first, run.last)),
          SlotsFor(std::max(forward, backward))};
}

std::int64_t ChainTable::GradientsBeside(std::size_t unit, std::size_t last) const {
  if (unit == last) return 0;
  return made_[unit] + InPlace(unit, last) - InPlace(unit + 1, last);
}

std::size_t ChainTable::SegmentNeeds(std::size_t s, std::size_t last) const {
  return SlotsFor(units_[last].stage.output_bytes + Beside(s, last) + made_[last]);
}

void ChainTable::Extend(Passed& passed, std::size_t unit, std::int64_t input) const {
  const ChainStage& stage = units_[unit].stage;
  passed.seconds += stage.forward_seconds;
  passed.bytes = std::max(passed.bytes, input + stage.output_bytes + stage.plain_workspace);
}

void ChainTable::Fill(const Run& run, Row row) const {
  run.first == run.last ? FillSingle(run, row) : FillSeveral(run, row);
  if (!MayBeOneSegment(run)) return;
  const Passed passed = PassedAsOne(run);
  const Row again = At({run.first, run.last});
  const std::size_t input = SlotsFor(InputBytesAgain(run));
  for (std::size_t m = OneSegmentNeeds(run, passed); m <= slots_; ++m) {
    row[m] = std::min(row[m], passed.seconds + again[m - input]);
  }
}

bool ChainTable::MayBeOneSegment(const Run& run) const {
  return run.input > 0 && !units_[run.first].stage.by_input_state.empty();
}

ChainTable::Passed ChainTable::PassedAsOne(const Run& run) const {
  Passed passed;
  for (std::size_t i = run.first; i <= run.last; ++i) {
    Extend(passed, i, i == run.first ? InputBytes(run) : HandedOn(run.first, i - 1));
  }
  return passed;
}

std::size_t ChainTable::OneSegmentNeeds(const Run& run, const Passed& passed) const {
  return std::max(SlotsFor(passed.bytes + Given(run.first, run.last) + Waiting(run)),
                  SlotsFor(InputBytesAgain(run)));
}

void ChainTable::FillSingle(const Run& run, Row row) const {
  const ChainUnit& unit = units_[run.first];
  for (std::size_t m = KeepNeeds(run).least; m <= slots_; ++m) {
    row[m] = unit.stage.ending_seconds + unit.stage.backward_seconds;
  }
  if (unit.inside == nullptr) return;
  const std::size_t input = SlotsFor(InputBytesAgain(run));
  for (std::size_t m = input; m <= slots_ && row[m] == kNever; ++m) {
    row[m] = unit.inside->Seconds(static_cast<std::int64_t>(m - input) * slot_bytes_);
  }
}

void ChainTable::FillKept(const Run& run, Row row) const {
  if (IsLeftOut(run.first, run.first + 1, run.last)) return;
  const ChainStage& stage = units_[run.first].stage;
  const Needs needs = KeepNeeds(run);
  const double own = stage.forward_seconds + stage.backward_seconds;
  const Row behind = At(BehindKept(run));
  const double* const rest = behind.data() - needs.kept;
  const auto freed = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, -needs.kept));
  std::size_t m = LeastOf(needs);
  for (; m + freed <= slots_; ++m) row[m] = own + rest[m];
  for (; m <= slots_; ++m) row[m] = own + behind[slots_];
}

void ChainTable::FillSeveral(const Run& run, Row row) const {
  FillKept(run, row);
  const std::size_t s = run.first, t = run.last;
  Passed passed;
  const std::int64_t input_bytes = InputBytes(run), given = Given(s, t) + Waiting(run);
  const std::size_t input = SlotsFor(InputBytesAgain(run)), count = units_.size();
  if (input > slots_) return;  // no segment of the run could run again
  const Row* const rows = rows_[0].data();
  std::array<Segment, 4> some;
  std::size_t found = 0;
  for (std::size_t next = s + 1; next <= t; ++next) {
    Extend(passed, next - 1, next == s + 1 ? input_bytes : HandedOn(s, next - 2));
    const std::size_t kept = SegmentNeeds(s, next - 1);
    const std::size_t passing = SlotsFor(passed.bytes + given);
    if (passing > slots_) break;  // a longer run needs no less
    if (kept > slots_ || IsLeftOut(s, next, t)) continue;
    some[found++] = {.seconds = passed.seconds,
                     .rest = rows[next * count + t].data() - kept,
                     .again = rows[s * count + next - 1].data() - input,
                     .least = std::max({kept, passing, input})};
    if (found < some.size()) continue;
    TakeFastest(some, row);
    found = 0;
  }
  for (std::size_t i = 0; i < found; ++i) TakeFaster(some[i], some[i].least, row.size(), row);
}

double ChainTable::Seconds(std::int64_t bytes) const {
  if (units_.empty()) return 0;
  return At({0, units_.size() - 1})[SlotsIn(bytes)];
}

std::int64_t ChainTable::LeastBytes() const {
  if (units_.empty()) return 0;
  const Row row = At({0, units_.size() - 1});
  const auto first = std::ranges::find_if(row, [](double seconds) { return seconds < kNever; });
  return static_cast<std::int64_t>(first - row.begin()) * slot_bytes_;
}

CheckpointSegments ChainTable::Schedule(std::int64_t bytes) const {
  CheckpointSegments segments;
  if (!units_.empty()) Extract({0, units_.size() - 1}, SlotsIn(bytes), segments);
  return segments;
}

void ChainTable::Extract(Run run, std::size_t slots, CheckpointSegments& into) const {
  while (run.first < run.last) {
    const std::size_t next = ExtractSegment(run, slots, into);
    if (next > run.last) return;
    if (next > run.first) {
      run = {next, run.last};
      continue;
    }
    slots = SlotsBehind(KeepNeeds(run), slots);
    run = BehindKept(run);
  }
  ExtractSingle(run, slots, into);
}

// The choices again, by the same sums as in the table, so that they compare equal; keeping is
// preferred.
std::size_t ChainTable::ExtractSegment(const Run& run, std::size_t& slots,
                                       CheckpointSegments& into) const {
  const std::size_t s = run.first, t = run.last;
  const double seconds = At(run)[slots];
  const Needs needs = KeepNeeds(run);
  const double own = units_[s].stage.forward_seconds + units_[s].stage.backward_seconds;
  if (!IsLeftOut(s, s + 1, t) && slots >= LeastOf(needs) &&
      own + At(BehindKept(run))[SlotsBehind(needs, slots)] <= seconds) {
    return s;
  }
  Passed passed;
  const std::size_t input = SlotsFor(InputBytesAgain(run));
  for (std::size_t next = s + 1; next <= t; ++next) {
    Extend(passed, next - 1, next == s + 1 ? InputBytes(run) : HandedOn(s, next - 2));
    if (IsLeftOut(s, next, t)) continue;
    const std::size_t kept = SegmentNeeds(s, next - 1);
    if (slots < std::max({kept, SlotsFor(passed.bytes + Given(s, t) + Waiting(run)), input}))
      continue;
    if (passed.seconds + At({next, t})[slots - kept] + At({s, next - 1})[slots - input] > seconds)
      continue;
    CheckpointSegment segment{units_[s].begin, units_[next - 1].end};
    Extract({s, next - 1}, slots - input, segment.inner);
    into.push_back(std::move(segment));
    slots -= kept;
    return next;
  }
  return ExtractAsOne(run, slots, into) ? t + 1 : s;
}

bool ChainTable::ExtractAsOne(const Run& run, std::size_t slots, CheckpointSegments& into) const {
  if (!MayBeOneSegment(run)) return false;
  const Passed passed = PassedAsOne(run);
  if (slots < OneSegmentNeeds(run, passed)) return false;
  const Run again = {run.first, run.last};
  const std::size_t inside = slots - SlotsFor(InputBytesAgain(run));
  if (passed.seconds + At(again)[inside] > At(run)[slots]) return false;
  CheckpointSegment segment{units_[run.first].begin, units_[run.last].end};
  Extract(again, inside, segment.inner);
  into.push_back(std::move(segment));
  return true;
}

void ChainTable::ExtractSingle(const Run& run, std::size_t slots, CheckpointSegments& into) const {
  const ChainUnit& one = units_[run.first];
  if (slots >= KeepNeeds(run).least || ExtractAsOne(run, slots, into)) return;
  if (one.inside == nullptr) return;
  const std::size_t input = SlotsFor(InputBytesAgain(run));
  const std::int64_t bytes = static_cast<std::int64_t>(slots - input) * slot_bytes_;
  for (const CheckpointSegment& segment : one.inside->Schedule(bytes)) {
    into.push_back(Shifted(segment, one.begin));
  }
}

}  // namespace frugal
