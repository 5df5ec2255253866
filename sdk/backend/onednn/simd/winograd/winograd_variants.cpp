#include "sdk/backend/onednn/simd/vector/variant.h"
#include "sdk/backend/onednn/simd/winograd/winograd_bodies.h"

namespace frugal::simd {

const WinogradLoops& FRUGAL_VARIANT(WinogradLoops)() {
  static constexpr WinogradLoops kLoops = kWinogradLoops;
  return kLoops;
}

}  // namespace frugal::simd
