#include "sdk/backend/onednn/simd/attention/attention_bodies.h"
#include "sdk/backend/onednn/simd/vector/variant.h"

namespace frugal::simd {

const AttentionLoops& FRUGAL_VARIANT(AttentionLoops)() {
  static constexpr AttentionLoops kLoops = kAttentionLoops;
  return kLoops;
}

}  // namespace frugal::simd
