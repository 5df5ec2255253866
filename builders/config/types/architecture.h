#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layers/sequential.h"
#include "layers/types/family_row.h"
#include "sdk/core/registry.h"

namespace frugal {

// All families, ours and those that programs registered.
Registry<ArchitectureFamily>& ArchitectureFamilies();
// Throws UsageError where the struct is none of theirs.
const ArchitectureFamily& FamilyOf(const ArchitectureConfig& config);
const ArchitectureFamily* FindFamily(std::string_view name);  // null if there is none

// The network with its paths and parameter numbers. Sizes come from the configuration alone: no
// data are needed and no parameter memory is taken. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> BuildArchitecture(const ArchitectureConfig& config);

// Makes an architecture of the program's own known by name, with the fields of its struct, to
// files, the schema and messages: [model] family = "mixer". To be called before configurations are
// read. In C++ the struct alone is enough once it is registered:
// builder.Architecture(MixerConfig()). `samples` says what it is trained on, for plans without
// data. Throws UsageError where the name is taken.
//
//   struct MixerConfig { std::int64_t depth = 8; };
//   std::unique_ptr<Sequential> MakeMixer(const MixerConfig& config);
//   RegisterArchitecture("mixer", {MakeField("depth", &MixerConfig::depth, "Blocks.")}, MakeMixer);
template <class Config>
const ArchitectureFamily& RegisterArchitecture(const std::string& name, std::vector<Field> fields,
                                               std::unique_ptr<Sequential> (*make)(const Config&),
                                               NominalSamples (*samples)(const Config&) = nullptr) {
  return ArchitectureFamilies().Add(FamilyRow<Config>(name, std::move(fields), make, samples));
}

}  // namespace frugal
