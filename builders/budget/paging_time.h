#pragma once

#include <algorithm>

#include "builders/budget/candidate_planner.h"

namespace frugal {

// Returns the seconds that the disk takes for this traffic of a step, at its measured rate.
double PageSeconds(const TrainingSetup& setup, const PagingTraffic& traffic);

// Holds how long the passes of a step take.
struct PassSeconds {
  double all = 0;
  double forward = 0;  // without what runs again

  // Takes forward passes to be a third of a step in which nothing runs again.
  static PassSeconds Of(double all, double with_nothing_again) {
    return {all, std::min(all, with_nothing_again / 3)};
  }
};

// Returns the seconds of a step of this candidate whose passes take so long. Its threads copy what
// is paged, and fall behind by what the system does for the disk; the disk has as long as the
// forward passes for what these read and write, and as long as the backward passes for the rest.
double SecondsWithPaging(const TrainingSetup& setup, const BudgetCandidate& candidate,
                         PassSeconds passes);

}  // namespace frugal
