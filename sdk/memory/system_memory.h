#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sdk/memory/allocator.h"
#include "sdk/memory/dry_memory.h"

namespace frugal {

// The kinds of limits on a process's memory, of which the least counts.
enum class MemoryLimitKind : std::uint8_t { kPhysical, kControlGroup, kAddressSpace };
// "physical memory", "the control group", "the address space (ulimit -v)"
std::string_view NameOf(MemoryLimitKind kind);

// The memory that there is for this process.
struct SystemMemory {
  std::int64_t physical_bytes = 0;
  std::int64_t control_group_bytes = 0;  // 0 where no group limits this process
  std::string control_group{};           // the path of the group that does, "/a/b"
  std::int64_t address_space_bytes = 0;  // RLIMIT_AS (`ulimit -v`); 0 without one
  // So much could be taken now: the least of what the machine can give without swapping, what is
  // left in the control groups and what is left of the address space. Nothing where that is not
  // known.
  std::optional<std::int64_t> available_bytes{};

  MemoryLimitKind LimitKind() const;
  std::int64_t LimitBytes() const;
};
SystemMemory ReadSystemMemory();

// Largest resident size this process ever had (VmHWM), in bytes; 0 where the system does not tell.
std::int64_t PeakResidentBytes();
// Resident size now.
std::int64_t ResidentBytes();

// Returns the bytes of the largest cache that a core has to itself, the second one; 1 MB where the
// system does not tell.
std::int64_t OwnCacheBytes();

// Memory straight from the system. Counts what it hands out, so that a test can tell that a warm
// step asks for nothing. Large blocks ask for huge pages. Thread-safe.
class HeapAllocator final : public Allocator {
 public:
  std::int64_t allocation_count() const { return count_.load(); }
  std::int64_t live_bytes() const { return live_bytes_.load(); }
  std::int64_t peak_live_bytes() const { return peak_live_bytes_.load(); }

 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override;
  void DoFree(Block& block) noexcept override;

  std::atomic<std::int64_t> count_{0};
  std::atomic<std::int64_t> live_bytes_{0};
  std::atomic<std::int64_t> peak_live_bytes_{0};
};

// Gives back to the system what the C library keeps of memory that was freed.
void ReturnFreeMemory();

// Addresses without storage, for planning: reading or writing one is a fault.
class NullAllocator final : public Allocator {
 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override;
  void DoFree(Block&) noexcept override {}

  std::uintptr_t next_address_ = kDryMemoryBegin;
};

}  // namespace frugal
