#include "sdk/backend/onednn/simd/all_bodies.h"

namespace frugal::simd {

const Loops& Avx512Loops() {
  static constexpr Loops kLoops{kTypedLoops<float>, kTypedLoops<BFloat16>, kConversionLoops,
                                kOptimizerLoops, kPoolLoops};
  return kLoops;
}

}  // namespace frugal::simd
