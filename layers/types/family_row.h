#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/types/architecture_families.h"
#include "layers/types/architecture_family.h"
#include "layers/types/size_fields.h"

namespace frugal {

// Returns the row of a family, which the file of its network defines.
template <class Config>
ArchitectureFamily FamilyRow(const std::string& name, std::vector<Field> fields,
                             std::unique_ptr<Sequential> (*make)(const Config&),
                             NominalSamples (*samples)(const Config&) = nullptr) {
  ArchitectureFamily family{
      .name = name,
      .defaults = Config(),
      .fields = MakeFieldTable<Config>(name, std::move(fields)),
      .make = [make](const ArchitectureConfig& config) { return make(*config.As<Config>()); }};
  if (samples != nullptr) {
    family.samples = [samples](const ArchitectureConfig& config) {
      return samples(*config.As<Config>());
    };
  }
  return family;
}

}  // namespace frugal
