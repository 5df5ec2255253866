#include "builders/config/types/architecture.h"

#include <algorithm>

#include "builders/config/types/architecture_families.h"

namespace frugal {

const std::vector<ArchitectureFamily>& ArchitectureFamilies() {
  static const std::vector<ArchitectureFamily> families = [] {
    std::vector<ArchitectureFamily> all;
    for (auto& group : {ClassicFamilies(), DitFamilies(), UNetFamilies(), StreamFamilies()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return families;
}

const ArchitectureFamily& FamilyOf(const ArchitectureConfig& config) {
  const auto& families = ArchitectureFamilies();
  return *std::ranges::find(families, config.index(), [](const ArchitectureFamily& family) {
    return family.defaults.index();
  });
}

const ArchitectureFamily* FindFamily(std::string_view name) {
  const auto& families = ArchitectureFamilies();
  const auto found = std::ranges::find(families, name, &ArchitectureFamily::name);
  return found == families.end() ? nullptr : &*found;
}

void* StructIn(ArchitectureConfig& config) {
  return std::visit([](auto& inner) -> void* { return &inner; }, config);
}

std::unique_ptr<Sequential> BuildArchitecture(const ArchitectureConfig& config) {
  auto network = FamilyOf(config).make(config);
  network->AssignPaths("");
  NumberParameters(*network);
  return network;
}

}  // namespace frugal
