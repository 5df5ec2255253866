#include "sdk/backend/onednn/simd/winograd/winograd_bodies.h"

namespace frugal::simd {

const FilteringLoops& BaselineFilteringLoops() {
  static constexpr FilteringLoops kLoops = kFilteringLoops;
  return kLoops;
}

}  // namespace frugal::simd
