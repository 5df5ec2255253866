#pragma once

#include <memory>
#include <optional>

#include "builders/execute/memory_stack.h"
#include "sdk/memory/keep_alive_allocator.h"
#include "sdk/memory/step_memory.h"

namespace frugal {

// A TrainingMemoryManager's memory comes from here. Every tensor taken here keeps it alive, so
// tensors and forward states may outlive the manager.
class ManagerMemory {
 public:
  static std::shared_ptr<ManagerMemory> Make(const TrainingMemoryConfig& config);
  explicit ManagerMemory(const TrainingMemoryConfig& config);  // use Make

  MemoryLedger& ledger() { return stack_.ledger(); }
  const MemoryLedger& ledger() const { return stack_.ledger(); }
  Allocator& tensors() { return tensors_; }  // parameters, gradients, optimizer state
  Allocator& step() { return step_; }        // activations and workspace
  Allocator& rented() { return rented_; }    // the same memory, told apart
  const Allocator& rented() const { return rented_; }

  // Returns the statistics of the pool behind step() and rented(); nothing where they come from the
  // heap.
  std::optional<PoolStatistics> pool_statistics() const;
  AllocatorStatistics Statistics() const;

  // Takes down what is taken and given back, and which operations run, from now on, until the next
  // call or StopRecording().
  void Record();
  void StopRecording();
  // Returns the memory since then; nothing where nothing is recorded.
  std::optional<StepMemory> Recorded() const;

 private:
  HeapAllocator heap_;
  std::unique_ptr<TensorPool> pool_;
  MemoryStack stack_;
  TrackedAllocator tracked_step_;
  KeepAliveAllocator tensors_;
  KeepAliveAllocator step_;
  KeepAliveAllocator rented_;
  std::unique_ptr<MemoryTrace> trace_;
  std::vector<Holder> before_;  // the recording
};

}  // namespace frugal
