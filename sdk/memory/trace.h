#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sdk/core/memory_tag.h"
#include "sdk/core/operation_kind.h"
#include "sdk/core/tensor_form.h"

namespace frugal {

// Names of whoever holds memory, each stored once. Where nobody will ask for them, a table keeps
// the first: a name costs as much as the allocation that it is for.
class LabelTable {
 public:
  using Id = std::uint32_t;
  enum class Keeps : std::uint8_t { kAll, kFirst };  // kFirst: all are given the first one's number
  explicit LabelTable(Keeps keeps = Keeps::kAll) : keeps_(keeps) {}
  LabelTable(const LabelTable&) = delete;  // a copy's numbers would lead to the names of this one
  LabelTable& operator=(const LabelTable&) = delete;
  Id Intern(std::string_view name);
  // Adds a name that only one holder has, which keeps its number: nobody will look for it.
  Id Add(std::string_view name);
  const std::string& NameOf(Id id) const { return names_[id]; }
  // Names that come from here on are not kept.
  void KeepNoMore() { keeps_ = Keeps::kFirst; }

 private:
  Keeps keeps_;
  std::deque<std::string> names_;  // stay where they are
  std::unordered_map<std::string_view, Id> ids_;
};

// One block's life, in event numbers: it is live in [begin, end).
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;    // kStillLive until it is freed
  std::int64_t times = 1;  // how many lives it stands for: see RepeatedTurn
  LabelTable::Id label = 0;
  std::int32_t form = -1;  // its number among the trace's forms; -1 where it is not known
  MemoryTag tag = MemoryTag::kActivation;
  bool in_arena = false;  // served by the step's memory, not by the tensors' memory
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

// A kernel call that a trace has taken down: memory that was taken before it and live behind it was
// there while it ran.
struct TracedOperation {
  std::int64_t event = 0;  // events before it
  LabelTable::Id label = 0;
  OperationKind kind = OperationKind::kCopy;
  bool backward = false;
  bool recomputed = false;  // a checkpointed segment's second run
  double flops = 0;
  double bytes = 0;
  double begin = 0;  // seconds since the first call; 0 where nothing is timed
  double seconds = 0;
};

// Everything that was taken and given back between Start and now, in order. A detailed one has the
// tensors' forms and the kernel calls too.
class MemoryTrace {
 public:
  enum class Detail : std::uint8_t { kBytes, kTensorsAndOperations };
  explicit MemoryTrace(Detail detail = Detail::kBytes) : detail_(detail) {}
  // About so many lifetimes are to come.
  void Reserve(std::size_t lifetimes) { lifetimes_.reserve(lifetimes); }

  // Returns the index under which the block's end is to be reported. `form` may be null.
  std::int64_t Begin(std::int64_t bytes, MemoryTag tag, LabelTable::Id label, bool in_arena,
                     const TensorForm* form = nullptr);
  bool has_operations() const { return detail_ == Detail::kTensorsAndOperations; }
  // An operation begins; its event is set.
  void Add(TracedOperation operation);
  // Says when the one that was added last began, by any clock, and what it took.
  void TimeLast(double begin, double seconds);
  const std::vector<TracedOperation>& operations() const { return operations_; }
  // Returns null where the form is not known.
  const TensorForm* FormOf(const Lifetime& life) const {
    return life.form < 0 ? nullptr : &forms_[static_cast<std::size_t>(life.form)];
  }
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
  Detail detail_;
  std::vector<TensorForm> forms_;
  std::vector<TracedOperation> operations_;
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
  bool shortens_loops = false;          // one turn stands for several: see RepeatedTurn
};
MemoryTimeline TimelineOf(const MemoryTrace& trace, const LabelTable& labels);

// Adds blocks of one label and purpose together and sorts by size, largest first.
std::vector<Holder> MergeHolders(std::vector<Holder> holders);
// "conv1 (activation, 12.0 MB), ..." for the first `count`.
std::string DescribeHolders(const std::vector<Holder>& holders, std::size_t count);

}  // namespace frugal
