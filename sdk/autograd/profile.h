#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "sdk/memory/ledger.h"

namespace frugal {

// What the kernels of one layer cost, forward and backward together.
struct LayerProfile {
  std::int64_t launches = 0;
  double seconds = 0;
  double flops = 0;
};

// Counts of a run; times only where `timed` is set.
struct Profile {
  double flops = 0;
  double recomputed_flops = 0;
  bool timed = false;
  std::vector<LayerProfile> by_label;  // indexed by the ledger's label
};

// Times one kernel in the name of the current label.
class ProfileScope {
 public:
  ProfileScope(Profile& profile, const MemoryLedger& ledger, double flops)
      : profile_(profile), label_(ledger.label()), flops_(flops) {
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
  LabelTable::Id label_;
  double flops_;
  Clock::time_point start_;
};

}  // namespace frugal
