#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "sdk/plan/paged_kinds.h"

namespace frugal {

// The settings of steps that a plan within a memory budget may choose, beside checkpointed
// segments.
struct StepSettings {
  bool optimizer_in_backward = false;
  std::int64_t micro_batches = 1;
  std::int64_t evaluation_batch = 1;
  std::optional<std::int64_t> loss_chunk_rows{};
  bool use_gradient_checkpointing = false;  // by the fields of the configuration
  PagedKinds paged = PagedKinds::kNone;
  std::int64_t paged_activation_bytes = 0;  // at most, of each part of a batch
  std::int64_t page_buffer_bytes = 0;       // between memory and the page file; 0: there is none

  bool pages() const { return paged != PagedKinds::kNone || paged_activation_bytes > 0; }
  auto operator<=>(const StepSettings&) const = default;
};

}  // namespace frugal
