#include "sdk/backend/onednn/simd/cpu_features.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace frugal::simd {
namespace {

bool MayUseTiles() {
  // asm/prctl.h and asm/fpu/types.h of Linux 5.16, whose headers need not be there.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

InstructionSet BestInstructionSet() {
  static const bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512) return InstructionSet::kAvx512;
  return avx2 ? InstructionSet::kAvx2 : InstructionSet::kBaseline;
}

bool HasAvx512Bf16() {
  static const bool has =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bf16");
  return has;
}

bool HasAmxBf16() {
  static const bool has = HasAvx512Bf16() && __builtin_cpu_supports("amx-tile") &&
                          __builtin_cpu_supports("amx-bf16") && MayUseTiles();
  return has;
}

}  // namespace frugal::simd
