#include "layers/types/architecture_families.h"

#include "layers/types/architecture_family.h"

namespace frugal {

std::vector<ArchitectureFamily> BuiltInFamilies() {
  std::vector<ArchitectureFamily> families;
#define FRUGAL_ADD(name) families.push_back(name());
  FRUGAL_ARCHITECTURE_FAMILIES(FRUGAL_ADD)
#undef FRUGAL_ADD
  return families;
}

}  // namespace frugal
