#include "sdk/backend/onednn/simd/winograd/winograd_bodies.h"

namespace frugal::simd {

const WinogradLoops& Avx2WinogradLoops() {
  static constexpr WinogradLoops kLoops = kWinogradLoops;
  return kLoops;
}

}  // namespace frugal::simd
