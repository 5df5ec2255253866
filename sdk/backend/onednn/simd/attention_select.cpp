#include "sdk/backend/onednn/simd/attention_loops.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::simd {

const AttentionLoops& SelectAttentionLoops() {
  const Loops* selected = &SelectLoops();
  if (selected == &Avx512Loops()) return Avx512AttentionLoops();
  if (selected == &Avx2Loops()) return Avx2AttentionLoops();
  return BaselineAttentionLoops();
}

}  // namespace frugal::simd
