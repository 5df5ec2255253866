#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "builders/plan/planned_training.h"
#include "sdk/memory/planned_arena.h"
#include "sdk/module/parameter_store.h"

namespace frugal {

// Runs predictions of one thread at a time on weights that others read too: kernels, scratch memory
// and the book of it are its own.
class PredictorSlot {
 public:
  // The plan and the weights, which are all there, must outlive it.
  PredictorSlot(const PlannedTraining& planned, ParameterStore& weights);

  // Predicts `count` samples on memory that was planned for as many.
  PredictedValues Run(std::span<const InputValues> inputs, std::int64_t count,
                      const ArenaLayout& layout);

  // The most scratch that was live at once so far; any thread may ask.
  std::int64_t peak_bytes() const { return peak_bytes_; }

 private:
  const PlannedTraining& planned_;
  std::unique_ptr<Backend> backend_;
  HeapAllocator heap_;
  std::unique_ptr<PlannedArena> arena_;  // null where the heap serves steps
  MemoryLedger ledger_;
  TrackedAllocator step_;
  Context context_;
  std::atomic<std::int64_t> peak_bytes_ = 0;
};

}  // namespace frugal
