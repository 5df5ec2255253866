#pragma once

#include <string>
#include <vector>

#include "sdk/capture/profile/entry_timer.h"
#include "sdk/capture/verify/verify_capture.h"

namespace frugal {

// Says how a capture is timed.
struct ProfileOptions {
  std::vector<BackendKind> backends{};  // none: that which was recorded
  CallSelection selection{};
  bool each = false;  // time entries of one operation, shapes and attributes all, not the first one
  TimingOptions timing{};  // of one round
  // Everything is timed so often, round after round, and the quietest round of an entry counts:
  // what else the machine does makes times longer and never shorter.
  std::int64_t rounds = 3;
  std::int64_t batch_bytes = std::int64_t{512} << 20;  // as in VerifyOptions, like what follows
  std::int64_t memory_cap = 0;
  double timeout_seconds = 120;
  int threads = 0;
};

struct ProfileReport {
  std::vector<EntryTime> times{};  // those that take most of the time in all first
  std::string policy;

  bool passed() const;  // everything that was timed was right behind it
};

// Times the entries of a capture on this machine (entry_timer.h), in processes that begin for it
// (workers.h), and verifies each behind its last sample. Throws as VerifyCapture.
ProfileReport ProfileCapture(const std::string& directory, const ProfileOptions& options = {});

}  // namespace frugal
