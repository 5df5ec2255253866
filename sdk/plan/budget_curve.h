#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/core/memory_tag.h"
#include "sdk/plan/paged_kinds.h"

namespace frugal {

// Says what lies in a page file.
struct PagedParts {
  PagedKinds kinds = PagedKinds::kNone;
  bool activations = false;                // what forward passes keep
  std::int64_t most_activation_bytes = 0;  // of a part of a batch, the first of it; 0: all

  bool operator==(const PagedParts&) const = default;
};

// A way to train with a part of the network computed again, and parts in a page file: the peak of a
// step, and the time.
struct BudgetPoint {
  std::int64_t peak_bytes = 0;  // of a training step, what lives outside of it included
  // Predicted, of passes, or of the disk where that takes longer; 1: nothing runs again.
  double relative_time = 1;
  std::int64_t segments = 0;  // that keep only their inputs
  std::string method;         // by which they were found
  PagedParts paged{};
};

// Tells what recomputation can do for a training, between keeping all and the least that was found,
// and with a page file what that can do.
struct BudgetCurve {
  // In each list, points of falling peaks, each faster than those behind it.
  std::vector<BudgetPoint> points{};              // of all choices
  std::vector<std::vector<BudgetPoint>> lines{};  // for each choice of what lies in a page file
  std::int64_t kept_peak_bytes = 0;  // nothing runs again, or lies in a file unless it is stated
  std::int64_t floor_bytes = 0;      // the least, with updates in the backward pass where they are
                                     // free to be there: they change no bit
  BytesByTag at_floor{};             // by purpose
  bool floor_updates_in_backward = false;
};

}  // namespace frugal
