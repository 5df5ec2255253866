#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/core/memory_tag.h"

namespace frugal {

// A way to train with a part of the network computed again: the peak of a step, and the time.
struct BudgetPoint {
  std::int64_t peak_bytes = 0;  // of a training step, what lives outside of it included
  double relative_time = 1;     // predicted, of passes; 1: nothing runs again
  std::int64_t segments = 0;    // that keep only their inputs
  std::string method;           // by which they were found
};

// Tells what recomputation can do for a training, between keeping all and the least that was found.
struct BudgetCurve {
  std::vector<BudgetPoint> points{};  // of falling peaks, each faster than those behind it
  std::int64_t kept_peak_bytes = 0;   // nothing runs again
  std::int64_t floor_bytes = 0;       // the least, with updates in the backward pass where they are
                                      // free to be there: they change no bit
  BytesByTag at_floor{};              // by purpose
  bool floor_updates_in_backward = false;
};

}  // namespace frugal
