#pragma once

#include <compare>
#include <optional>

#include "builders/setup/blueprint.h"

namespace frugal {

// The knobs beside checkpoint segments that a plan within a budget may turn.
struct BudgetSettings {
  bool optimizer_in_backward = false;
  std::int64_t accumulate = 1;
  std::int64_t evaluation_batch = 1;
  std::optional<std::int64_t> loss_chunk_rows{};
  bool use_gradient_checkpointing = false;  // by the fields of the configuration

  auto operator<=>(const BudgetSettings&) const = default;
};

BudgetSettings SettingsOf(const RunConfig& config);
// Puts them in force in the blueprint, on top of what was stated; what they change is noted as
// chosen by the planner.
void Apply(const RunConfig& stated, const BudgetSettings& settings, Blueprint& blueprint);

// Which of them are free: nobody but a preset or the default has set them, and the training can do
// with another value. A loss that leaves out labels, norms over a batch and layers that mix samples
// need the batch in one piece, the last ones in evaluation too.
struct FreeKnobs {
  bool optimizer_in_backward = false;
  bool accumulate = false;
  bool evaluation_batch = false;
  bool loss_chunk_rows = false;
  // Segments: any, or only those that the user's own fields make, or what the user said.
  enum class Segments : std::uint8_t { kAny, kPolicyOrNone, kAsStated } segments = Segments::kAny;
};
FreeKnobs FreeKnobsOf(const Blueprint& blueprint);

// Whether a batch norm that learns or dropout is among the layers.
bool HasBatchStatistics(const Blueprint& blueprint);
bool HasDropout(const Blueprint& blueprint);
// Whether there is a layer whose result for a sample depends on the others of its batch.
bool MixesSamples(const Blueprint& blueprint);

}  // namespace frugal
