#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/simd/winograd/winograd_loops.h"

namespace frugal::simd {

const WinogradLoops& SelectWinogradLoops() {
  switch (BestInstructionSet()) {
    case InstructionSet::kAvx512:
      return Avx512WinogradLoops();
    case InstructionSet::kAvx2:
      return Avx2WinogradLoops();
    default:
      return BaselineWinogradLoops();
  }
}

}  // namespace frugal::simd
