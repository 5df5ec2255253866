#pragma once

#include <cstdint>

namespace frugal {

class MemoryLedger;

// Addresses of memory that is only planned: they differ, and x86-64 has none of them.
inline constexpr std::uintptr_t kDryMemoryBegin = std::uintptr_t{1} << 62;
inline constexpr std::uintptr_t kDryMemoryEnd = std::uintptr_t{1} << 63;

// While it lives on a thread, an access to such an address there ends the program with a message
// that names the layer and the rule, where it would be a segmentation fault. A fault anywhere else
// is handled as it was before. A thread's guards may end in any order, on that thread.
class DryMemoryGuard {
 public:
  // The label of the newest guard's ledger is the layer; a ledger must outlive its guard.
  explicit DryMemoryGuard(const MemoryLedger& ledger);
  DryMemoryGuard(const DryMemoryGuard&) = delete;
  DryMemoryGuard& operator=(const DryMemoryGuard&) = delete;
  ~DryMemoryGuard();

  const MemoryLedger& ledger() const { return ledger_; }

 private:
  const MemoryLedger& ledger_;
  DryMemoryGuard* before_;  // the next older one of this thread
};

}  // namespace frugal
