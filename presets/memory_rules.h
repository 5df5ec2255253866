#pragma once

#include <string>
#include <vector>

#include "presets/config/origins.h"
#include "presets/training_memory_config.h"
#include "sdk/core/error.h"

namespace frugal {

// Fields that are each right but do not go together, or that only a later version can honour.
struct Contradiction {
  std::vector<std::string> fields;  // the ones involved, the likeliest mistake first
  Diagnostic diagnostic;
};

// All contradictions of a configuration.
std::vector<Contradiction> MemoryContradictions(const TrainingMemoryConfig& config);

// Checks a configuration that was filled in code: every field's range, and all contradictions.
// Throws one ConfigError with one line for each.
void CheckMemory(const TrainingMemoryConfig& config);

// One sentence for each field that the user wrote in TOML or on the command line and that has no
// effect because the switch before it is off, such as checkpoint_every_n_layers without
// use_gradient_checkpointing. No mistake, since switches are there to be tried, but nothing is
// ignored in silence. `path` as for ReadMemory.
std::vector<std::string> IdleMemoryFields(const TrainingMemoryConfig& config,
                                          const Origins& origins,
                                          const std::string& path = "memory");

}  // namespace frugal
