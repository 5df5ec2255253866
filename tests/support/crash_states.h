#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/recording_file_system.h"

namespace frugal::testing {

struct CrashOptions {
  std::int64_t block = 4096;      // bytes that reach the disk together
  std::size_t most_states = 200;  // looked at behind each call; where all are fewer, all
  std::uint64_t seed = 1;
};

// A directory as a machine finds it that lost its power behind some call.
struct CrashState {
  std::filesystem::path directory;  // the root as it is then; removed after the visit
  std::size_t calls = 0;            // how many were made
  std::vector<std::string> marks;   // those among them: what was promised must be here
  std::string text;                 // which calls they were, and what of them is lost
};

// Visits states that a crash may legally leave behind each call of a recording, no state twice for
// the same marks. Returns how many there were. The model is that of ALICE (Pillai et al., "All File
// Systems Are Not Created Equal", OSDI 2014, section 3) with nothing taken for granted that POSIX
// does not promise:
// - bytes of a file that were not synced may be there or not, block by block, in any order; apart
//   from that the file may have grown over them or not, and reads as zeros where bytes are missing;
// - names that were made, renamed or removed since their directory was synced may be so or not, in
//   any order, also before the bytes behind them. A rename is one step, and durable when both
//   directories are synced;
// - a sync makes durable what was before it, of that file or that directory alone.
// With few changes that may be lost all their subsets are visited; with more: all, none, each alone
// there, each alone missing, all up to each of them, names without bytes, bytes without names,
// lengths without bytes, and random ones by the seed.
std::size_t VisitCrashStates(const Recording& recording, const CrashOptions& options,
                             const std::function<void(const CrashState&)>& visit);

}  // namespace frugal::testing
