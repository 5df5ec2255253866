#include "sdk/memory/system_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

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

// A control group's limit file holds a number or "max".
std::int64_t ControlGroupLimit(const char* file) {
  std::ifstream in(file);
  std::int64_t bytes = 0;
  return in >> bytes ? bytes : 0;
}

// For what fills whole ones: a last page of which only a part is used would be resident as a whole.
void AskForHugePages(std::byte* data, std::int64_t bytes) {
  const std::int64_t whole = bytes / kHugePage * kHugePage;
  madvise(data, static_cast<std::size_t>(whole), MADV_HUGEPAGE);
  if (whole == bytes) return;
  madvise(data + whole, static_cast<std::size_t>(bytes - whole), MADV_NOHUGEPAGE);
}

}  // namespace

std::int64_t SystemMemory::LimitBytes() const {
  return control_group_bytes > 0 ? std::min(control_group_bytes, physical_bytes) : physical_bytes;
}

void ReturnFreeMemory() { malloc_trim(0); }

SystemMemory ReadSystemMemory() {
  SystemMemory memory;
  memory.physical_bytes = ProcKilobytes("/proc/meminfo", "MemTotal");
  memory.available_bytes = ProcKilobytes("/proc/meminfo", "MemAvailable");
  const std::int64_t v2 = ControlGroupLimit("/sys/fs/cgroup/memory.max");
  const std::int64_t v1 = ControlGroupLimit("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  const std::int64_t limit = v2 > 0 ? v2 : v1;
  // Version 1 writes "no limit" as a number near 2^63.
  if (limit < memory.physical_bytes) memory.control_group_bytes = limit;
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
  live_bytes_ += bytes;
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
  return Block(this, address, bytes, tag);
}

}  // namespace frugal
