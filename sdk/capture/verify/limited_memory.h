#pragma once

#include <algorithm>
#include <string>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// Heap memory of which no more than a limit is taken at a time. Throws MemoryError beyond it.
class LimitedMemory final : public Allocator {
 public:
  explicit LimitedMemory(std::int64_t limit) : limit_(limit) {}  // 0 = none

  std::int64_t live_bytes() const { return heap_.live_bytes(); }

 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override {
    if (limit_ > 0 && heap_.live_bytes() + bytes > limit_) {
      throw MemoryError({.where = "memory cap",
                         .required = "at most " + FormatBytes(limit_) + " for tensors at a time",
                         .given = FormatBytes(heap_.live_bytes() + bytes) + " are needed",
                         .advice = "raise --memory-cap"});
    }
    return heap_.Allocate(bytes, tag);
  }
  void DoFree(Block&) noexcept override {}  // blocks are the heap's

  HeapAllocator heap_;
  std::int64_t limit_;
};

}  // namespace frugal
