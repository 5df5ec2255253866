#include "sdk/backend/onednn/gemm/choose_gemm.h"

#include "sdk/backend/onednn/gemm/blocked_gemm.h"

namespace frugal::onednn {

void Multiply(const Gemm& g, bool accumulate, float* c, void* scratch) {
  if (!BlockedGemmPays(g)) return MultiplyByOneDnn(g, accumulate, c);
  BlockedGemm(g.m, g.n, g.k).Run(g, {.c = c, .addend = accumulate ? c : nullptr}, scratch);
}

std::int64_t GemmScratch(const Gemm& g) {
  return BlockedGemmPays(g) ? BlockedGemm(g.m, g.n, g.k).ScratchBytes() : 0;
}

}  // namespace frugal::onednn
