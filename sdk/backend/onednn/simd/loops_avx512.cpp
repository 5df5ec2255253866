#include "sdk/backend/onednn/simd/all_bodies.h"

namespace frugal::simd {

const Loops& Avx512Loops() {
  static constexpr Loops kLoops{kNormLoops, kElementwiseLoops, kRowLoops, kOptimizerLoops,
                                kPoolLoops};
  return kLoops;
}

}  // namespace frugal::simd
