#pragma once

#include <cstdint>

namespace frugal {

class MemoryLedger;

// Addresses of memory that is only planned: they differ, and x86-64 has none of them.
inline constexpr std::uintptr_t kDryMemoryBegin = std::uintptr_t{1} << 62;
inline constexpr std::uintptr_t kDryMemoryEnd = std::uintptr_t{1} << 63;

// While it lives on a thread, an access to such an address there ends the program with a message
// that names the layer and the rule, where it would be a segmentation fault. A fault anywhere else
// is handled as it was before.
class DryMemoryGuard {
 public:
  // The ledger's label is the layer; it must outlive the guard.
  explicit DryMemoryGuard(const MemoryLedger& ledger);
  DryMemoryGuard(const DryMemoryGuard&) = delete;
  DryMemoryGuard& operator=(const DryMemoryGuard&) = delete;
  ~DryMemoryGuard();

 private:
  const MemoryLedger* previous_;
};

}  // namespace frugal
