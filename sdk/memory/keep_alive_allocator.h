#pragma once

#include <memory>
#include <vector>

#include "sdk/memory/allocator.h"

namespace frugal {

// Passes requests on, and keeps whatever its memory comes from alive until the last block has come
// back: blocks may then outlive the object that handed them out. Not thread-safe.
class KeepAliveAllocator final : public Allocator {
 public:
  explicit KeepAliveAllocator(Allocator& upstream) : upstream_(upstream) {}

  // Sets what blocks keep alive from now on; this allocator and its upstream may be parts of it.
  void KeepAlive(std::weak_ptr<const void> source) { source_ = std::move(source); }

 private:
  struct Held {
    Block block;
    std::shared_ptr<const void> source;
  };
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override;
  void DoFree(Block& block) noexcept override;
  std::size_t FreePlace();

  Allocator& upstream_;
  std::weak_ptr<const void> source_;
  std::vector<Held> held_;
  std::vector<std::size_t> free_places_;
};

}  // namespace frugal
