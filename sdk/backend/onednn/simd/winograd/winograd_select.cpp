#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/simd/winograd/winograd_loops.h"

namespace frugal::simd {

const FilteringLoops& SelectFilteringLoops() {
  switch (BestInstructionSet()) {
    case InstructionSet::kAvx512:
      return Avx512FilteringLoops();
    case InstructionSet::kAvx2:
      return Avx2FilteringLoops();
    default:
      return BaselineFilteringLoops();
  }
}

}  // namespace frugal::simd
