#include "sdk/backend/common/cpu_features.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "sdk/backend/instruction_limit.h"
#include "sdk/core/error.h"

namespace frugal::simd {
namespace {

constexpr std::array<const char*, 5> kNames = {"baseline", "avx2", "avx512", "avx512_bf16", "amx"};
static_assert(kNames.size() == static_cast<std::size_t>(IsaLimit::kNone));

IsaLimit ReadLimit() {
  const char* const given = std::getenv("FRUGAL_ISA");
  if (given == nullptr || *given == '\0') return IsaLimit::kNone;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (std::string(given) == kNames[i]) return static_cast<IsaLimit>(i);
  }
  throw ConfigError({.where = "FRUGAL_ISA",
                     .required = "one of baseline, avx2, avx512, avx512_bf16, amx",
                     .given = "the environment has " + std::string(given).substr(0, 40),
                     .advice = "unset it to use all that the processor has"});
}

bool Allows(IsaLimit needed) { return LimitOfEnvironment() >= needed; }

// clang 14 knows no names for some features: bits of EDX of leaf 7.
bool HasFeatures(unsigned bits) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & bits) == bits;
}

bool HasTiles() { return HasFeatures((1u << 22) | (1u << 24)); }  // AMX-BF16 and AMX-TILE

bool HasSlowDots() { return IsIntel() && HasFeatures(1u << 23); }  // AVX512-FP16

bool MayUseTiles() {
  // asm/prctl.h and asm/fpu/types.h of Linux 5.16, whose headers need not be there.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

IsaLimit LimitOfEnvironment() {
  static const IsaLimit limit = ReadLimit();
  return limit;
}

InstructionSet BestInstructionSet() {
  static const bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512 && Allows(IsaLimit::kAvx512)) return InstructionSet::kAvx512;
  return avx2 && Allows(IsaLimit::kAvx2) ? InstructionSet::kAvx2 : InstructionSet::kBaseline;
}

bool IsIntel() { return __builtin_cpu_is("intel"); }

bool HasAvx512Bf16() {
  static const bool has =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bf16");
  return has && Allows(IsaLimit::kAvx512Bf16);
}

bool HasAmxBf16() {
  static const bool has = HasAvx512Bf16() && Allows(IsaLimit::kAmx) && HasTiles() && MayUseTiles();
  return has;
}

bool HasFastBf16Products() {
  if (HasAmxBf16()) return true;
  static const bool has_slow_dots = HasSlowDots();
  return HasAvx512Bf16() && (!has_slow_dots || LimitOfEnvironment() == IsaLimit::kAvx512Bf16);
}

}  // namespace frugal::simd

std::string_view frugal::InstructionLimit() {
  const simd::IsaLimit limit = simd::LimitOfEnvironment();
  return limit == simd::IsaLimit::kNone ? "" : simd::kNames[static_cast<std::size_t>(limit)];
}

std::string_view frugal::InstructionsInUse() {
  if (simd::HasAmxBf16()) return "amx";
  if (simd::HasAvx512Bf16()) return "avx512_bf16";
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(simd::BestInstructionSet())];
}
