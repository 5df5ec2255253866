#include "builders/config/types/architecture.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {

Registry<ArchitectureFamily>& ArchitectureFamilies() {
  static Registry<ArchitectureFamily> families("family of architectures", BuiltInFamilies());
  return families;
}

const ArchitectureFamily& FamilyOf(const ArchitectureConfig& config) {
  for (const ArchitectureFamily* family : ArchitectureFamilies().Rows()) {
    if (family->defaults.type() == config.type()) return *family;
  }
  throw UsageError({.where = "Architecture",
                    .required = "sizes are those of a family of architectures",
                    .given = "a struct that belongs to none",
                    .advice = "register a family of your own by RegisterArchitecture"});
}

const ArchitectureFamily* FindFamily(std::string_view name) {
  return ArchitectureFamilies().Find(name);
}

std::unique_ptr<Sequential> BuildArchitecture(const ArchitectureConfig& config) {
  auto network = FamilyOf(config).make(config);
  network->AssignPaths("");
  NumberParameters(*network);
  return network;
}

}  // namespace frugal
