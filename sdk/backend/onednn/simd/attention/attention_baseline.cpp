#include "sdk/backend/onednn/simd/attention/attention_bodies.h"

namespace frugal::simd {

const AttentionLoops& BaselineAttentionLoops() {
  static constexpr AttentionLoops kLoops = kAttentionLoops;
  return kLoops;
}

}  // namespace frugal::simd
