#include "sdk/backend/onednn/simd/winograd/winograd_bodies.h"

namespace frugal::simd {

const WinogradLoops& BaselineWinogradLoops() {
  static constexpr WinogradLoops kLoops = kWinogradLoops;
  return kLoops;
}

}  // namespace frugal::simd
