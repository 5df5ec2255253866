#include "tests/fuzz/guarded_read.h"

#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "sdk/core/error.h"

namespace frugal::testing {
namespace {

[[noreturn]] void Find(const char* what, double value, double bound) {
  std::fprintf(stderr, "frugal fuzz: %s %.6g, but at most %.6g is promised\n", what, value, bound);
  std::abort();
}

// Counts the bytes that a thread allocates, by hooks of the sanitizer; a reader has one. A thread
// of libFuzzer's own frees blocks while the first input is read, which must not count as the
// reader's; and what was allocated before the hooks were there may be freed, so that live falls
// below zero.
struct Heap {
  std::int64_t live = 0;
  std::int64_t peak = 0;
};
constinit thread_local Heap heap;

void CountAllocated(const volatile void*, std::size_t bytes) {
  heap.live += static_cast<std::int64_t>(bytes);
  heap.peak = std::max(heap.peak, heap.live);
}

void CountFreed(const volatile void* block) {
  if (block == nullptr) return;
  const std::size_t bytes = __sanitizer_get_allocated_size(const_cast<const void*>(block));
  heap.live -= static_cast<std::int64_t>(bytes);
}

// A file without a name in memory, which is filled anew for each input.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
    if (__sanitizer_install_malloc_and_free_hooks(CountAllocated, CountFreed) == 0) std::abort();
  }

  const std::string& path() const { return path_; }

  void Fill(const std::uint8_t* data, std::size_t size) const {
    const auto bytes = static_cast<ssize_t>(size);
    if (::ftruncate(descriptor_, bytes) != 0) std::abort();
    if (size > 0 && ::pwrite(descriptor_, data, size, 0) != bytes) std::abort();
  }

 private:
  int descriptor_;
  std::string path_;
};

double ProcessorSeconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Returns the seconds that the reader took.
double Read(const FileReader& reader, const std::string& path) {
  const double began = ProcessorSeconds();
  try {
    reader.read(path);
  } catch (const Error& error) {
    if (*error.what() == '\0') Find("letters of an error's message:", 0, 0);
  }
  return ProcessorSeconds() - began;
}

// A virtual processor that waits for a real one counts that as its own time, so that what took long
// is read again: a file that takes long takes it each time.
void RequireQuick(const FileReader& reader, const std::string& path, double seconds) {
  constexpr double kLongest = 1;
  for (int again = 0; again < 3 && seconds > kLongest; ++again) {
    seconds = std::min(seconds, Read(reader, path));
  }
  if (seconds > kLongest) Find("seconds taken:", seconds, kLongest);
}

}  // namespace

int ReadGuarded(const FileReader& reader, const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  file.Fill(data, size);
  const std::int64_t before = heap.live;
  heap.peak = before;
  const double seconds = Read(reader, file.path());
  const auto bound = static_cast<std::int64_t>(reader.bytes_per_byte * size + reader.fixed_bytes);
  const std::int64_t peak = heap.peak - before;
  if (peak > bound) {
    Find("bytes allocated:", static_cast<double>(peak), static_cast<double>(bound));
  }
  RequireQuick(reader, file.path(), seconds);
  return 0;
}

}  // namespace frugal::testing
