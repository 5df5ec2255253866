#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sdk/core/memory_tag.h"

namespace frugal {

// Names of whoever holds memory, each stored once.
class LabelTable {
 public:
  using Id = std::uint32_t;
  Id Intern(std::string_view name);
  const std::string& NameOf(Id id) const { return names_[id]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, Id> ids_;
};

// One block's life, in event numbers: it is live in [begin, end).
struct Lifetime {
  std::int64_t bytes = 0;
  MemoryTag tag = MemoryTag::kActivation;
  LabelTable::Id label = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;    // kStillLive until it is freed
  bool in_arena = false;   // served by the step's memory, not by the tensors' memory
  std::int64_t times = 1;  // how many lives it stands for: see RepeatedTurn
};
inline constexpr std::int64_t kStillLive = INT64_MAX;

// One turn of a loop that stands for `times` of them, one after the other, which all take and give
// back the same. Nothing of it lives on behind it.
struct RepeatedTurn {
  std::int64_t begin = 0;  // events [begin, end)
  std::int64_t end = 0;
  std::size_t first_life = 0;  // lifetimes [first_life, last_life)
  std::size_t last_life = 0;
  std::int64_t times = 1;
};

// Everything that was taken and given back between Start and now, in order.
class MemoryTrace {
 public:
  // Returns the index under which the block's end is to be reported.
  std::int64_t Begin(std::int64_t bytes, MemoryTag tag, LabelTable::Id label, bool in_arena);
  void End(std::int64_t index) { lifetimes_[static_cast<std::size_t>(index)].end = event_++; }

  const std::vector<Lifetime>& lifetimes() const { return lifetimes_; }
  std::int64_t event_count() const { return event_; }

  // All that is recorded from BeginTurn() to EndTurn() stands for `times` turns of a loop.
  RepeatedTurn BeginTurn() const { return {.begin = event_, .first_life = lifetimes_.size()}; }
  void EndTurn(RepeatedTurn turn, std::int64_t times);
  // Turns that stand for several, those inside another one before it.
  const std::vector<RepeatedTurn>& repeated() const { return repeated_; }
  // The number that each event, and the end, would have if all turns were recorded.
  std::vector<std::int64_t> WholeEvents() const;

 private:
  std::vector<Lifetime> lifetimes_;
  std::vector<RepeatedTurn> repeated_;
  std::int64_t event_ = 0;
};

// Who holds how much.
struct Holder {
  std::string label;
  MemoryTag tag = MemoryTag::kActivation;
  std::int64_t bytes = 0;
};

// Live bytes by purpose after each event.
struct MemoryTimeline {
  std::vector<BytesByTag> live;
  std::size_t peak_event = 0;
  std::vector<Holder> holders_at_peak;  // largest first
};
MemoryTimeline TimelineOf(const MemoryTrace& trace, const LabelTable& labels);

// Adds blocks of one label and purpose together and sorts by size, largest first.
std::vector<Holder> MergeHolders(std::vector<Holder> holders);
// "conv1 (activation, 12.0 MB), ..." for the first `count`.
std::string DescribeHolders(const std::vector<Holder>& holders, std::size_t count);

}  // namespace frugal
