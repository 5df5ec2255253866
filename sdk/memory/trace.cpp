#include "sdk/memory/trace.h"

#include <algorithm>
#include <map>

#include "sdk/core/byte_size.h"

namespace frugal {

LabelTable::Id LabelTable::Intern(std::string_view name) {
  if (keeps_ == Keeps::kFirst && !names_.empty()) return 0;
  if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
  const auto id = static_cast<Id>(names_.size());
  ids_.emplace(names_.emplace_back(name), id);
  return id;
}

LabelTable::Id LabelTable::Add(std::string_view name) {
  if (keeps_ == Keeps::kFirst && !names_.empty()) return 0;
  names_.emplace_back(name);
  return static_cast<Id>(names_.size() - 1);
}

std::int64_t MemoryTrace::Begin(std::int64_t bytes, MemoryTag tag, LabelTable::Id label,
                                bool in_arena, const TensorForm* form) {
  const bool known = form != nullptr && has_operations();
  if (known) forms_.push_back(*form);
  lifetimes_.push_back({.bytes = bytes,
                        .begin = event_++,
                        .end = kStillLive,
                        .label = label,
                        .form = known ? static_cast<std::int32_t>(forms_.size()) - 1 : -1,
                        .tag = tag,
                        .in_arena = in_arena});
  return static_cast<std::int64_t>(lifetimes_.size()) - 1;
}

void MemoryTrace::Add(TracedOperation operation) {
  operation.event = event_;
  operations_.push_back(operation);
}

void MemoryTrace::TimeLast(double begin, double seconds) {
  TracedOperation& last = operations_.back();
  last.begin = begin;
  last.seconds = seconds;
}

void MemoryTrace::EndTurn(RepeatedTurn turn, std::int64_t times) {
  turn.end = event_;
  turn.last_life = lifetimes_.size();
  turn.times = times;
  if (turn.begin == turn.end) return;
  for (std::size_t i = turn.first_life; i < turn.last_life; ++i) lifetimes_[i].times *= times;
  repeated_.push_back(turn);
}

std::vector<std::int64_t> MemoryTrace::WholeEvents() const {
  std::vector<std::int64_t> left_out(static_cast<std::size_t>(event_) + 1);  // just before each
  for (const RepeatedTurn& turn : repeated_) {
    std::int64_t events = turn.end - turn.begin;
    for (std::int64_t i = turn.begin + 1; i <= turn.end; ++i) {
      events += left_out[static_cast<std::size_t>(i)];
    }
    left_out[static_cast<std::size_t>(turn.end)] += (turn.times - 1) * events;
  }
  std::vector<std::int64_t> whole;
  std::int64_t before = 0;
  for (const std::int64_t events : left_out) {
    before += events;
    whole.push_back(static_cast<std::int64_t>(whole.size()) + before);
  }
  return whole;
}

namespace {

std::vector<Holder> HoldersAt(const MemoryTrace& trace, const LabelTable& labels,
                              std::int64_t event) {
  std::vector<Holder> holders;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.begin > event || life.end <= event) continue;
    holders.push_back({labels.NameOf(life.label), life.tag, life.bytes});
  }
  return MergeHolders(std::move(holders));
}

}  // namespace

MemoryTimeline TimelineOf(const MemoryTrace& trace, const LabelTable& labels) {
  const auto events = static_cast<std::size_t>(trace.event_count());
  MemoryTimeline timeline;
  timeline.live.resize(events);
  timeline.shortens_loops = !trace.repeated().empty();
  for (const Lifetime& life : trace.lifetimes()) {
    timeline.live[static_cast<std::size_t>(life.begin)][life.tag] += life.bytes;
    if (life.end != kStillLive) {
      timeline.live[static_cast<std::size_t>(life.end)][life.tag] -= life.bytes;
    }
  }
  std::int64_t peak = 0;
  for (std::size_t event = 0; event < events; ++event) {
    for (const MemoryTag tag : kAllMemoryTags) {
      if (event > 0) timeline.live[event][tag] += timeline.live[event - 1][tag];
    }
    const std::int64_t total = timeline.live[event].Total();
    if (total > peak) {
      peak = total;
      timeline.peak_event = event;
    }
  }
  timeline.holders_at_peak =
      HoldersAt(trace, labels, static_cast<std::int64_t>(timeline.peak_event));
  return timeline;
}

std::vector<Holder> MergeHolders(std::vector<Holder> holders) {
  std::map<std::pair<std::string, MemoryTag>, std::int64_t> sums;
  for (const Holder& holder : holders) sums[{holder.label, holder.tag}] += holder.bytes;
  holders.clear();
  for (const auto& [key, bytes] : sums) holders.push_back({key.first, key.second, bytes});
  std::ranges::stable_sort(holders, std::ranges::greater{}, &Holder::bytes);
  return holders;
}

std::string DescribeHolders(const std::vector<Holder>& holders, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, holders.size()); ++i) {
    const Holder& holder = holders[i];
    if (i > 0) text += ", ";
    text += holder.label + " (" + std::string(NameOf(holder.tag)) + ", " +
            FormatBytes(holder.bytes) + ")";
  }
  return text;
}

}  // namespace frugal
