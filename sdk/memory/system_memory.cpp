#include "sdk/memory/system_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/memory/control_groups.h"

namespace frugal {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

// The number behind "key:" in a file of /proc, in bytes (the files count kilobytes).
std::int64_t ProcKilobytes(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    std::int64_t kilobytes = 0;
    if (word == key + ":" && in >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// The address space that this process may have; 0 without a limit.
std::int64_t AddressSpaceLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

// For what fills whole ones: a last page of which only a part is used would be resident as a whole.
void AskForHugePages(std::byte* data, std::int64_t bytes) {
  const std::int64_t whole = bytes / kHugePage * kHugePage;
  madvise(data, static_cast<std::size_t>(whole), MADV_HUGEPAGE);
  if (whole == bytes) return;
  madvise(data + whole, static_cast<std::size_t>(bytes - whole), MADV_NOHUGEPAGE);
}

}  // namespace

MemoryLimitKind SystemMemory::LimitKind() const {
  MemoryLimitKind kind = MemoryLimitKind::kPhysical;
  std::int64_t least = physical_bytes;
  if (control_group_bytes > 0 && control_group_bytes < least) {
    kind = MemoryLimitKind::kControlGroup;
    least = control_group_bytes;
  }
  const bool space = address_space_bytes > 0 && address_space_bytes < least;
  return space ? MemoryLimitKind::kAddressSpace : kind;
}

std::int64_t SystemMemory::LimitBytes() const {
  switch (LimitKind()) {
    case MemoryLimitKind::kControlGroup:
      return control_group_bytes;
    case MemoryLimitKind::kAddressSpace:
      return address_space_bytes;
    case MemoryLimitKind::kPhysical:
      break;
  }
  return physical_bytes;
}

std::string_view NameOf(MemoryLimitKind kind) {
  switch (kind) {
    case MemoryLimitKind::kControlGroup:
      return "the control group";
    case MemoryLimitKind::kAddressSpace:
      return "the address space (ulimit -v)";
    case MemoryLimitKind::kPhysical:
      break;
  }
  return "physical memory";
}

std::int64_t OwnCacheBytes() {
  long bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
  bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
  return bytes > 0 ? std::int64_t{bytes} : kBytesPerMegabyte;
}

void ReturnFreeMemory() { malloc_trim(0); }

SystemMemory ReadSystemMemory() {
  SystemMemory memory;
  memory.physical_bytes = ProcKilobytes("/proc/meminfo", "MemTotal");
  std::int64_t available = ProcKilobytes("/proc/meminfo", "MemAvailable");
  const ControlGroupMemory groups = ReadControlGroups();
  if (groups.limit_bytes > 0) {
    memory.control_group_bytes = groups.limit_bytes;
    memory.control_group = groups.group;
    available = std::min(available, groups.available_bytes);
  }
  memory.address_space_bytes = AddressSpaceLimit();
  if (memory.address_space_bytes > 0) {
    const std::int64_t used = ProcKilobytes("/proc/self/status", "VmSize");
    available = std::min(available, std::max<std::int64_t>(0, memory.address_space_bytes - used));
  }
  memory.available_bytes = available;
  return memory;
}

std::int64_t PeakResidentBytes() { return ProcKilobytes("/proc/self/status", "VmHWM"); }
std::int64_t ResidentBytes() { return ProcKilobytes("/proc/self/status", "VmRSS"); }

Block HeapAllocator::DoAllocate(std::int64_t bytes, MemoryTag tag) {
  if (bytes == 0) return Block(this, nullptr, 0, tag);
  const bool huge = bytes >= 2 * kHugePage;
  const auto alignment = static_cast<std::size_t>(huge ? kHugePage : kMemoryAlignment);
  void* data = nullptr;
  if (posix_memalign(&data, alignment, static_cast<std::size_t>(bytes)) != 0) {
    throw MemoryError({.where = "memory",
                       .required = FormatBytes(bytes) + " for " + std::string(NameOf(tag)),
                       .given = "the system has no more to give",
                       .advice = "use a smaller batch or gradient checkpointing"});
  }
  if (huge) AskForHugePages(static_cast<std::byte*>(data), bytes);
  ++count_;
  const std::int64_t live = live_bytes_ += bytes;
  std::int64_t peak = peak_live_bytes_.load();
  while (live > peak && !peak_live_bytes_.compare_exchange_weak(peak, live)) {
  }
  return Block(this, data, bytes, tag);
}

void HeapAllocator::DoFree(Block& block) noexcept {
  live_bytes_ -= block.bytes();
  std::free(block.data());
}

Block NullAllocator::DoAllocate(std::int64_t bytes, MemoryTag tag) {
  // Planning compares no addresses; they only have to differ and to be unusable.
  void* address = reinterpret_cast<void*>(next_address_);  // NOLINT(performance-no-int-to-ptr)
  next_address_ += static_cast<std::uintptr_t>(bytes);
  // From the beginning again, long after all that can live at once.
  if (next_address_ >= kDryMemoryEnd) next_address_ = kDryMemoryBegin;
  return Block(this, address, bytes, tag);
}

}  // namespace frugal
