#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "sdk/autograd/launch_cost.h"
#include "sdk/memory/ledger.h"

namespace frugal {

// Adds up what kernels cost together.
struct KernelTotals {
  std::int64_t launches = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;

  void Add(const LaunchCost& cost, double elapsed);
  void Add(const KernelTotals& other);
};

// Backward's own kernels apart from the rest. What runs again for it counts as forward.
struct KindTotals {
  KernelTotals forward;
  KernelTotals backward;
};

// Counts of a run; times, and whose they are, only where `timed` is set.
struct Profile {
  double flops = 0;
  double recomputed_flops = 0;
  std::int64_t launches = 0;  // of dry runs too
  bool timed = false;
  std::vector<KernelTotals> by_label;  // indexed by the ledger's label
  std::array<KindTotals, kOperationKindCount> by_kind{};

  // Adds what another device's kernels cost, by kind.
  void AddKinds(const Profile& other);
};

// Times one kernel in the name of the current label and of its kind.
class ProfileScope {
 public:
  ProfileScope(Profile& profile, MemoryLedger& ledger, const LaunchCost& cost, bool backward)
      : profile_(profile),
        trace_(ledger.trace()),
        label_(ledger.label()),
        cost_(cost),
        backward_(backward) {
    if (profile_.timed) start_ = Clock::now();
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
  ~ProfileScope() {
    if (profile_.timed) Add();
  }

 private:
  using Clock = std::chrono::steady_clock;
  void Add();

  Profile& profile_;
  MemoryTrace* trace_;  // that has taken the call down, or null
  LabelTable::Id label_;
  const LaunchCost& cost_;
  bool backward_;
  Clock::time_point start_;
};

}  // namespace frugal
