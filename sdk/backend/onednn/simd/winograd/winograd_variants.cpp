#include "sdk/backend/onednn/simd/winograd/winograd_bodies.h"
#include "sdk/backend/onednn/simd/vector/variant.h"

namespace frugal::simd {

const WinogradLoops& FRUGAL_VARIANT(WinogradLoops)() {
  static constexpr WinogradLoops kLoops = kWinogradLoops;
  return kLoops;
}

}  // namespace frugal::simd
