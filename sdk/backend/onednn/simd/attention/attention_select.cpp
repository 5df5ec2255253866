#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/simd/attention/attention_loops.h"

namespace frugal::simd {

const AttentionLoops& SelectAttentionLoops() {
  switch (BestInstructionSet()) {
    case InstructionSet::kAvx512:
      return Avx512AttentionLoops();
    case InstructionSet::kAvx2:
      return Avx2AttentionLoops();
    default:
      return BaselineAttentionLoops();
  }
}

}  // namespace frugal::simd
