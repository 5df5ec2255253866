#include "sdk/backend/onednn/simd/all_bodies.h"
#include "sdk/backend/onednn/simd/vector/variant.h"

namespace frugal::simd {

const Loops& FRUGAL_VARIANT(Loops)() {
  static constexpr Loops kLoops{kTypedLoops<float>, kTypedLoops<BFloat16>, kConversionLoops,
                                kOptimizerLoops, kPoolLoops};
  return kLoops;
}

}  // namespace frugal::simd
