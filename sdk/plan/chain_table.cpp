#include "sdk/plan/chain_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "sdk/plan/chain_solver.h"

namespace frugal {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

ChainTable::ChainTable(std::vector<ChainUnit> units, const std::vector<SkipConnection>& carried,
                       SkipGradients gradients, std::int64_t limit_bytes, std::size_t slots,
                       SlotRounding rounding)
    : units_(std::move(units)),
      gradients_(gradients),
      rounding_(rounding),
      beside_(units_.size() * units_.size()),
      slots_(slots),
      slot_bytes_(std::max<std::int64_t>(1, (limit_bytes + static_cast<std::int64_t>(slots) - 1) /
                                                static_cast<std::int64_t>(slots))),
      rows_(units_.size() * units_.size()) {
  const std::size_t count = units_.size();
  for (std::size_t i = 0; i < count * count && !carried.empty(); ++i) {
    beside_[i] = LiveSkipBytes(carried, i / count, i % count + 1);
  }
  const EqualRuns runs = FindEqualRuns();
  seconds_.assign(runs.count * (slots_ + 1), kNever);
  std::vector<bool> is_filled(runs.count);
  for (std::size_t length = 1; length <= count; ++length) {
    for (std::size_t s = 0; s + length <= count; ++s) {
      const std::size_t t = s + length - 1;
      const std::size_t number = runs.numbers[s * count + t];
      const Row row = rows_[s * count + t] = {&seconds_[number * (slots_ + 1)], slots_ + 1};
      if (is_filled[number]) continue;
      is_filled[number] = true;
      if (length == 1) {
        FillSingle(s, row);
      } else {
        FillSeveral(s, t, row);
      }
    }
  }
}

// Runs are equal where all but their last units are, all but their first ones, and what they carry
// as a whole.
ChainTable::EqualRuns ChainTable::FindEqualRuns() const {
  const std::size_t count = units_.size();
  EqualRuns runs{.numbers = std::vector<std::size_t>(count * count)};
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t equal = 0;
    while (equal < i &&
           !(units_[equal].stage == units_[i].stage && units_[equal].inside == units_[i].inside &&
             Beside(equal, equal) == Beside(i, i))) {
      ++equal;
    }
    runs.numbers[i * count + i] = equal < i ? runs.numbers[equal * count + equal] : runs.count++;
  }
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, std::size_t> known;
  for (std::size_t length = 2; length <= count; ++length) {
    known.clear();
    for (std::size_t s = 0; s + length <= count; ++s) {
      const std::size_t t = s + length - 1;
      const auto [at, is_new] = known.try_emplace(
          {runs.numbers[s * count + t - 1], runs.numbers[(s + 1) * count + t], Beside(s, t)},
          runs.count);
      runs.count += is_new ? 1 : 0;
      runs.numbers[s * count + t] = at->second;
    }
  }
  return runs;
}

std::size_t ChainTable::SlotsIn(std::int64_t bytes) const {
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(bytes / slot_bytes_, 0, static_cast<std::int64_t>(slots_)));
}

ChainTable::Needs ChainTable::KeepNeeds(std::size_t unit, std::size_t last) const {
  const ChainStage& stage = units_[unit].stage;
  const std::int64_t workspace = unit == last ? stage.ending_workspace : stage.forward_workspace;
  const std::int64_t forward = Given(unit, last) + stage.saved_bytes + workspace;
  const std::int64_t backward = stage.saved_bytes + stage.output_bytes + stage.backward_workspace;
  return {SlotsFor(stage.saved_bytes + GradientsBeside(unit, last)),
          SlotsFor(std::max(forward, backward))};
}

std::int64_t ChainTable::GradientsBeside(std::size_t unit, std::size_t last) const {
  if (unit == last) return 0;
  if (gradients_ == SkipGradients::kBeside) return Beside(unit, unit + 1);
  return Beside(unit, last) - Beside(unit + 1, last);
}

std::size_t ChainTable::SegmentNeeds(std::size_t s, std::size_t last) const {
  const bool beside = gradients_ == SkipGradients::kBeside;
  return SlotsFor(Given(s, last) + (beside ? GradientsBeside(last, last + 1) : 0));
}

void ChainTable::Extend(Passed& passed, std::size_t first, std::size_t unit) const {
  const ChainStage& stage = units_[unit].stage;
  const std::int64_t input = unit > first ? Given(first, unit - 1) : 0;
  passed.seconds += stage.forward_seconds;
  passed.bytes = std::max(passed.bytes, input + stage.output_bytes + stage.plain_workspace);
}

void ChainTable::FillSingle(std::size_t unit, Row row) const {
  const ChainStage& stage = units_[unit].stage;
  for (std::size_t m = KeepNeeds(unit, unit).least; m <= slots_; ++m) {
    row[m] = stage.ending_seconds + stage.backward_seconds;
  }
  if (units_[unit].inside == nullptr) return;
  for (std::size_t m = 0; m <= slots_ && row[m] == kNever; ++m) {
    row[m] = units_[unit].inside->Seconds(static_cast<std::int64_t>(m) * slot_bytes_);
  }
}

void ChainTable::FillSeveral(std::size_t s, std::size_t t, Row row) const {
  const ChainStage& stage = units_[s].stage;
  const Needs needs = KeepNeeds(s, t);
  const double own = stage.forward_seconds + stage.backward_seconds;
  for (std::size_t m = std::max(needs.least, needs.kept); m <= slots_; ++m) {
    row[m] = own + At(s + 1, t)[m - needs.kept];
  }
  Passed passed;
  for (std::size_t next = s + 1; next <= t; ++next) {
    Extend(passed, s, next - 1);
    const std::size_t kept = SegmentNeeds(s, next - 1);
    const std::size_t passing = SlotsFor(passed.bytes + Given(s, t));
    if (passing > slots_) break;  // a longer run needs no less
    if (kept > slots_) continue;
    const std::size_t least = std::max(kept, passing);
    const double* rest = At(next, t).data() - kept;
    const double* again = At(s, next - 1).data();
    double* best = row.data();
    for (std::size_t m = least; m <= slots_; ++m) {
      best[m] = std::min(best[m], passed.seconds + rest[m] + again[m]);
    }
  }
}

double ChainTable::Seconds(std::int64_t bytes) const {
  if (units_.empty()) return 0;
  return At(0, units_.size() - 1)[SlotsIn(bytes)];
}

std::int64_t ChainTable::LeastBytes() const {
  if (units_.empty()) return 0;
  const Row row = At(0, units_.size() - 1);
  const auto first = std::ranges::find_if(row, [](double seconds) { return seconds < kNever; });
  return static_cast<std::int64_t>(first - row.begin()) * slot_bytes_;
}

CheckpointSegments ChainTable::Schedule(std::int64_t bytes) const {
  CheckpointSegments segments;
  if (!units_.empty()) Extract(0, units_.size() - 1, SlotsIn(bytes), segments);
  return segments;
}

void ChainTable::Extract(std::size_t s, std::size_t t, std::size_t slots,
                         CheckpointSegments& into) const {
  while (s < t) {
    const std::size_t next = ExtractSegment(s, t, slots, into);
    if (next == s) slots -= KeepNeeds(s, t).kept;
    s = next == s ? s + 1 : next;
  }
  ExtractSingle(s, slots, into);
}

// The choices again, by the same sums as in the table, so that they compare equal; keeping is
// preferred.
std::size_t ChainTable::ExtractSegment(std::size_t s, std::size_t t, std::size_t& slots,
                                       CheckpointSegments& into) const {
  const double seconds = At(s, t)[slots];
  const Needs needs = KeepNeeds(s, t);
  const double own = units_[s].stage.forward_seconds + units_[s].stage.backward_seconds;
  if (slots >= std::max(needs.least, needs.kept) &&
      own + At(s + 1, t)[slots - needs.kept] <= seconds) {
    return s;
  }
  Passed passed;
  for (std::size_t next = s + 1; next <= t; ++next) {
    Extend(passed, s, next - 1);
    const std::size_t kept = SegmentNeeds(s, next - 1);
    if (slots < std::max(kept, SlotsFor(passed.bytes + Given(s, t)))) continue;
    if (passed.seconds + At(next, t)[slots - kept] + At(s, next - 1)[slots] > seconds) continue;
    CheckpointSegment segment{units_[s].begin, units_[next - 1].end};
    Extract(s, next - 1, slots, segment.inner);
    into.push_back(std::move(segment));
    slots -= kept;
    return next;
  }
  return s;
}

void ChainTable::ExtractSingle(std::size_t unit, std::size_t slots,
                               CheckpointSegments& into) const {
  const ChainUnit& one = units_[unit];
  if (one.inside == nullptr || slots >= KeepNeeds(unit, unit).least) return;
  const std::int64_t bytes = static_cast<std::int64_t>(slots) * slot_bytes_;
  for (const CheckpointSegment& segment : one.inside->Schedule(bytes)) {
    into.push_back(Shifted(segment, one.begin));
  }
}

}  // namespace frugal
