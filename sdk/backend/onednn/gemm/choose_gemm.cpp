#include "sdk/backend/onednn/gemm/choose_gemm.h"

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/gemm/blocked_gemm.h"
#include "sdk/backend/onednn/gemm/no_copy_gemm.h"

namespace frugal::onednn {

void Multiply(const Gemm& g, bool accumulate, float* c, void* scratch) {
  const GemmTarget target{.c = c, .addend = accumulate ? c : nullptr};
  if (BlockedGemmPays(g)) return BlockedGemm(g).Run(g, target, scratch);
  if (NoCopyGemmPays(g)) return NoCopyGemm(g).Run(g, target, scratch);
  MultiplyByOneDnn(g, accumulate, c, g.n);
}

std::int64_t GemmScratch(const Gemm& g) {
  if (BlockedGemmPays(g)) return BlockedGemm(g).ScratchBytes();
  return NoCopyGemmPays(g) ? NoCopyGemm(g).ScratchBytes() : 0;
}

bool MatmulPays(const Gemm& g) {
  constexpr std::int64_t kApart = 512, kFarApart = 1024;  // elements
  if (simd::BestInstructionSet() != simd::InstructionSet::kAvx512) return false;
  if (NoCopyGemmPays(g)) return false;
  if (g.transpose_a == 'T') {
    constexpr std::int64_t kFewest = 1024, kNarrowest = 64, kWidest = 512;
    const std::int64_t apart = simd::IsIntel() ? kApart : kFarApart;
    return g.m % apart == 0 && g.m >= kFewest && g.k >= kFewest && g.n >= kNarrowest &&
           g.n <= kWidest;
  }
  if (g.transpose_b == 'T') {
    constexpr std::int64_t kFewest = 16, kNarrowest = 128, kFew = 768, kNarrow = 512;
    return g.k % kApart == 0 && g.k > 0 && g.m >= kFewest && g.n >= kNarrowest &&
           (g.m <= kFew || g.n <= kNarrow);
  }
  return false;
}

}  // namespace frugal::onednn
