#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "builders/execute/allocator_statistics.h"
#include "presets/training_memory_config.h"
#include "sdk/memory/ledger.h"
#include "sdk/memory/planned_arena.h"
#include "sdk/memory/system_memory.h"
#include "sdk/memory/tensor_pool.h"

namespace frugal {

// The pool that models with use_shared_tensor_pool share: the one object of the whole process. Each
// model is a tenant of it with the limits that its own configuration states.
TensorPool& SharedTensorPool();

// Limits of a pool as the configuration states them.
PoolOptions PoolOptionsOf(const TrainingMemoryConfig& config);

// Provides a model's memory under a policy, and keeps the book of it:
// - weights, gradients, optimizer state: a pool (shared or own), or the heap;
// - activations, workspace and batches: a planned arena, or the heap.
class MemoryStack {
 public:
  using Warn = std::function<void(const std::string&)>;
  MemoryStack(const TrainingMemoryConfig& config, Warn warn);

  MemoryLedger& ledger() { return ledger_; }
  const MemoryLedger& ledger() const { return ledger_; }
  Allocator& tensors() { return tensors_; }
  Allocator& step() { return step_; }
  PlannedArena* arena() const { return arena_.get(); }  // null where the heap serves steps

  // Requests to the system so far, on all ways.
  std::int64_t system_allocations() const;
  // Returns the statistics of the pool in use; nothing where the heap serves tensors.
  std::optional<PoolStatistics> pool_statistics() const;
  AllocatorStatistics Statistics() const;

 private:
  std::unique_ptr<PoolTenant> ChoosePool(const TrainingMemoryConfig& config);

  HeapAllocator heap_;
  std::unique_ptr<TensorPool> own_pool_;
  std::unique_ptr<PoolTenant> pool_;  // a place in the own pool or the shared one; or null
  std::unique_ptr<PlannedArena> arena_;
  MemoryLedger ledger_;
  TrackedAllocator tensors_;
  TrackedAllocator step_;
};

}  // namespace frugal
