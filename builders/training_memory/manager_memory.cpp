#include "builders/training_memory/manager_memory.h"

#include <limits>

#include "sdk/core/byte_size.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

// Passes come in any order and are not planned, so a pool serves them, not a planned arena.
TrainingMemoryConfig WithoutArena(TrainingMemoryConfig config) {
  config.use_activation_pooling = false;
  return config;
}

std::unique_ptr<TensorPool> ActivationPool(const TrainingMemoryConfig& config,
                                           HeapAllocator& heap) {
  if (!config.use_activation_pooling) return nullptr;
  const std::int64_t bytes = config.max_pool_memory_mb * kBytesPerMegabyte;
  return std::make_unique<TensorPool>(
      heap, PoolOptions{.max_idle_bytes = bytes,
                        .max_block_bytes = bytes,
                        .max_items_per_bucket = std::numeric_limits<std::int64_t>::max()});
}

}  // namespace

ManagerMemory::ManagerMemory(const TrainingMemoryConfig& config)
    : pool_(ActivationPool(config, heap_)),
      stack_(WithoutArena(config), [](const std::string& text) { LogWarning(text); }),
      tracked_step_(stack_.ledger(), pool_ ? static_cast<Allocator&>(*pool_) : heap_, true),
      tensors_(stack_.tensors()),
      step_(tracked_step_),
      rented_(tracked_step_) {}

std::shared_ptr<ManagerMemory> ManagerMemory::Make(const TrainingMemoryConfig& config) {
  auto memory = std::make_shared<ManagerMemory>(config);
  for (KeepAliveAllocator* part : {&memory->tensors_, &memory->step_, &memory->rented_}) {
    part->KeepAlive(memory);
  }
  return memory;
}

std::optional<PoolStatistics> ManagerMemory::pool_statistics() const {
  if (!pool_) return std::nullopt;
  return pool_->statistics();
}

AllocatorStatistics ManagerMemory::Statistics() const {
  AllocatorStatistics statistics = stack_.Statistics();
  statistics.bytes_reserved += heap_.live_bytes();
  statistics.peak_bytes_reserved += heap_.peak_live_bytes();
  if (pool_) AddPool(pool_->statistics(), statistics);
  return statistics;
}

void ManagerMemory::Record() {
  before_ = ledger().Holders();
  auto trace = std::make_unique<MemoryTrace>(MemoryTrace::Detail::kTensorsAndOperations);
  ledger().RecordInto(trace.get());
  trace_ = std::move(trace);
}

void ManagerMemory::StopRecording() {
  ledger().RecordInto(nullptr);
  trace_.reset();
}

std::optional<StepMemory> ManagerMemory::Recorded() const {
  if (trace_ == nullptr) return std::nullopt;
  return StepMemoryOf(*trace_, ledger().labels(), before_);
}

}  // namespace frugal
