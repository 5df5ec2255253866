#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "builders/config/types/architecture_config.h"

namespace frugal {

// All families: one for each alternative of ArchitectureConfig.
const std::vector<ArchitectureFamily>& ArchitectureFamilies();
const ArchitectureFamily& FamilyOf(const ArchitectureConfig& config);
const ArchitectureFamily* FindFamily(std::string_view name);  // null if there is none

// The struct inside the variant, as the field table takes it.
void* StructIn(ArchitectureConfig& config);

// The network with its paths and parameter numbers. Sizes come from the configuration alone: no
// data are needed and no parameter memory is taken. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> BuildArchitecture(const ArchitectureConfig& config);

}  // namespace frugal
