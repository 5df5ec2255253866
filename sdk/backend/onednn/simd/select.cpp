#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::simd {

const Loops& SelectLoops() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return Avx512Loops();
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Avx2Loops();
  return BaselineLoops();
}

}  // namespace frugal::simd
