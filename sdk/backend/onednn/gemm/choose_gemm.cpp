#include "sdk/backend/onednn/gemm/choose_gemm.h"

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/gemm/blocked_gemm.h"

namespace frugal::onednn {

void Multiply(const Gemm& g, bool accumulate, float* c, void* scratch) {
  if (!BlockedGemmPays(g)) return MultiplyByOneDnn(g, accumulate, c);
  BlockedGemm(g.m, g.n, g.k).Run(g, {.c = c, .addend = accumulate ? c : nullptr}, scratch);
}

std::int64_t GemmScratch(const Gemm& g) {
  return BlockedGemmPays(g) ? BlockedGemm(g.m, g.n, g.k).ScratchBytes() : 0;
}

bool MatmulPays(const Gemm& g) {
  constexpr std::int64_t kFewest = 1024, kApart = 512, kNarrowest = 64, kWidest = 512;
  if (simd::BestInstructionSet() != simd::InstructionSet::kAvx512) return false;
  return g.transpose_a == 'T' && g.k >= kFewest && g.m >= kFewest && g.m % kApart == 0 &&
         g.n >= kNarrowest && g.n <= kWidest;
}

}  // namespace frugal::onednn
