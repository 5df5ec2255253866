#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "builders/config/run_config.h"

namespace frugal {

// The fields of a configuration that a plan within a memory budget may choose, beside checkpointed
// segments.
struct StepSettings {
  bool optimizer_in_backward = false;
  std::int64_t micro_batches = 1;
  std::int64_t evaluation_batch = 1;
  std::optional<std::int64_t> loss_chunk_rows{};
  bool use_gradient_checkpointing = false;  // by the fields of the configuration

  auto operator<=>(const StepSettings&) const = default;
};

StepSettings SettingsOf(const RunConfig& config);

// Returns the configuration with these settings in force; what they change is noted as chosen by
// the planner.
RunConfig WithSettings(RunConfig config, const StepSettings& settings);

}  // namespace frugal
