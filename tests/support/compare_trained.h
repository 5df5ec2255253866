#pragma once

#include "tests/catch.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {

// Two trainings computed the same numbers, bit for bit.
inline void CheckSame(const Trained& a, const Trained& b) {
  CHECK(a.result.losses == b.result.losses);
  CHECK(a.result.gradient_norms == b.result.gradient_norms);
  CHECK(a.values == b.values);
  CHECK(a.gradients == b.gradients);
  CHECK(a.result.weights_hash == b.result.weights_hash);
  CHECK(a.result.test_loss == b.result.test_loss);
}

// Planned bytes are measured bytes.
inline void CheckPlanIsRun(const Plan& plan, const TrainingResult& result,
                           bool activation_pooling) {
  for (const MemoryTag tag : kAllMemoryTags) {
    INFO("purpose " << NameOf(tag));
    CHECK(plan.peak_by_purpose[tag] == result.memory.peak_by_purpose[tag]);
    CHECK(plan.at_peak[tag] == result.memory.at_peak[tag]);
  }
  CHECK(plan.peak_bytes == result.memory.peak_bytes);
  CHECK(plan.peak_bytes > 0);
  CHECK(plan.arena_bytes >= plan.live_lower_bound_bytes);
  if (activation_pooling) CHECK(result.memory.allocations_after_warmup == 0);
}

}  // namespace frugal::testing
