#pragma once

#include <vector>

// Our families of architectures, in the order in which they are listed: one line for each. NAME
// stands for a function `ArchitectureFamily NAME()`, the row that the file of the network defines
// by layers/types/family_row.h.
#define FRUGAL_ARCHITECTURE_FAMILIES(FAMILY) \
  FAMILY(Gpt2Family)                         \
  FAMILY(LlamaFamily)                        \
  FAMILY(BertFamily)                         \
  FAMILY(VitFamily)                          \
  FAMILY(ResNetFamily)                       \
  FAMILY(DitFamily)                          \
  FAMILY(SitFamily)                          \
  FAMILY(UVitFamily)                         \
  FAMILY(FlagDitFamily)                      \
  FAMILY(UNetFamily)                         \
  FAMILY(UNetConditionFamily)                \
  FAMILY(ControlNetFamily)                   \
  FAMILY(ControlNetUnionFamily)              \
  FAMILY(VaeKlFamily)                        \
  FAMILY(VideoUNetFamily)                    \
  FAMILY(PixelUNetFamily)                    \
  FAMILY(MmditFamily)                        \
  FAMILY(FluxFamily)                         \
  FAMILY(CogVideoXFamily)                    \
  FAMILY(AsymmDitFamily)                     \
  FAMILY(EmmditFamily)

namespace frugal {

struct ArchitectureFamily;

#define FRUGAL_DECLARE(name) ArchitectureFamily name();
FRUGAL_ARCHITECTURE_FAMILIES(FRUGAL_DECLARE)
#undef FRUGAL_DECLARE

// Returns the rows of all of them.
std::vector<ArchitectureFamily> BuiltInFamilies();

}  // namespace frugal
