#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/memory/allocator.h"
#include "sdk/memory/trace.h"

namespace frugal {

// A bound on live bytes, and a fraction of it at which to warn once.
struct MemoryLimit {
  std::int64_t bytes = 0;       // 0 = none
  bool hard = false;            // refuse what would pass it; else it only serves the warning
  std::string name;             // "max_memory_per_device_mb", "physical memory", ...
  double warning_fraction = 0;  // 0 = never warn
  std::function<void(const std::string&)> warn{};
};

class TrackedAllocator;

// The one bookkeeping of planning and running: what is live, what the peak was, who holds it.
// Threads: one uses a ledger at a time: operations take memory from the thread that runs the step.
class MemoryLedger {
 public:
  explicit MemoryLedger(LabelTable::Keeps names = LabelTable::Keeps::kAll)
      : labels_(names), label_(labels_.Intern("other")) {}

  BytesByTag live() const { return live_; }
  std::int64_t live_total() const { return live_total_; }
  // The largest live bytes of each purpose on its own, and of all together.
  BytesByTag peak() const { return peak_; }
  std::int64_t peak_total() const { return peak_total_; }
  BytesByTag at_peak() const { return at_peak_; }  // what made up peak_total
  // Forgets peaks of what is no longer live.
  void RestartPeaks() {
    peak_ = at_peak_ = live_;
    peak_total_ = live_total_;
  }
  std::int64_t allocation_count() const { return allocation_count_; }
  std::int64_t largest_allocation() const { return largest_allocation_; }

  // Who asks from now on: a layer's path and operation, e.g. "features.0 conv2d".
  LabelTable::Id label() const { return label_; }
  void SetLabel(LabelTable::Id label) { label_ = label; }
  LabelTable& labels() { return labels_; }
  const LabelTable& labels() const { return labels_; }

  std::vector<Holder> LargestHolders() const;
  // Each block that is live, as it was taken.
  std::vector<Holder> Holders() const;

  const MemoryLimit& limit() const { return limit_; }
  void SetLimit(MemoryLimit limit) {
    limit_ = std::move(limit);
    warned_ = false;
  }
  // Records into `trace` until it is set to null. The trace must outlive the recording.
  void RecordInto(MemoryTrace* trace);
  // Returns the trace that is being recorded into, or null.
  MemoryTrace* trace() { return trace_; }
  // Stops recording for a while: what is taken until Resume() is given back before it.
  MemoryTrace* Pause() { return std::exchange(trace_, nullptr); }
  void Resume(MemoryTrace* trace) { trace_ = trace; }

 private:
  friend class TrackedAllocator;
  struct Entry {
    Block inner;
    LabelTable::Id label = 0;
    std::int64_t trace_index = -1;
  };

  // `form` is null for what is no tensor.
  Block Take(TrackedAllocator& owner, std::int64_t bytes, MemoryTag tag, const TensorForm* form);
  void Give(const Block& block) noexcept;
  void CheckLimit(std::int64_t bytes, MemoryTag tag);
  std::size_t FreeEntry();

  LabelTable labels_;
  LabelTable::Id label_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> free_entries_;
  BytesByTag live_;
  BytesByTag peak_;
  BytesByTag at_peak_;
  std::int64_t live_total_ = 0;
  std::int64_t peak_total_ = 0;
  std::int64_t allocation_count_ = 0;
  std::int64_t largest_allocation_ = 0;
  MemoryLimit limit_;
  bool warned_ = false;
  MemoryTrace* trace_ = nullptr;
};

// Memory taken in this scope is held in the name of `label`.
class HolderScope {
 public:
  HolderScope(MemoryLedger& ledger, LabelTable::Id label)
      : ledger_(ledger), previous_(ledger.label()) {
    ledger_.SetLabel(label);
  }
  HolderScope(MemoryLedger& ledger, std::string_view label)
      : HolderScope(ledger, ledger.labels().Intern(label)) {}
  HolderScope(const HolderScope&) = delete;
  HolderScope& operator=(const HolderScope&) = delete;
  ~HolderScope() { ledger_.SetLabel(previous_); }

 private:
  MemoryLedger& ledger_;
  LabelTable::Id previous_;
};

// An allocator whose blocks are entered in a ledger. `in_arena` marks the step's side in traces.
class TrackedAllocator final : public Allocator {
 public:
  TrackedAllocator(MemoryLedger& ledger, Allocator& upstream, bool in_arena)
      : ledger_(ledger), upstream_(upstream), in_arena_(in_arena) {}

 private:
  friend class MemoryLedger;
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override {
    return ledger_.Take(*this, bytes, tag, nullptr);
  }
  Block DoAllocateTensor(std::int64_t bytes, MemoryTag tag, const TensorForm& form) override {
    return ledger_.Take(*this, bytes, tag, &form);
  }
  void DoFree(Block& block) noexcept override { ledger_.Give(block); }

  MemoryLedger& ledger_;
  Allocator& upstream_;
  bool in_arena_;
};

}  // namespace frugal
