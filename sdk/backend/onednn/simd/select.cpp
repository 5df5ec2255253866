#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/simd/amx/swish.h"
#include "sdk/backend/onednn/simd/attention/attention_loops.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/winograd/winograd_loops.h"

namespace frugal::simd {
namespace {

constexpr Swish kSilu{};
constexpr Swish kQuickGelu{.linear = 1.702f};
// x (1 + tanh(u / 2)) / 2 with u = 2 sqrt(2 / pi) (x + 0.044715 x^3)
constexpr Swish kGeluTanh{.linear = 1.5957691216f, .cubic = 1.5957691216f * 0.044715f};

template <const Swish& kFunction>
void Set(Activation kind, ElementwiseLoops<BFloat16>& loops) {
  const auto index = static_cast<std::size_t>(kind);
  loops.activation_forward[index] = [](const BFloat16* x, float, BFloat16* y, std::int64_t n) {
    SwishForward(kFunction, x, y, n);
  };
  loops.activation_backward[index] = [](const BFloat16* dy, const BFloat16* x, float, BFloat16* dx,
                                        std::int64_t n) { SwishBackward(kFunction, dy, x, dx, n); };
}

Loops WithBf16Instructions() {
  Loops loops = Avx512Loops();
  Set<kSilu>(Activation::kSilu, loops.bf16.elementwise);
  Set<kQuickGelu>(Activation::kQuickGelu, loops.bf16.elementwise);
  Set<kGeluTanh>(Activation::kGeluTanh, loops.bf16.elementwise);
  return loops;
}

// Returns the best table for this processor.
template <class Table>
const Table& Select(const Table& (*baseline)(), const Table& (*avx2)(), const Table& (*avx512)()) {
  switch (BestInstructionSet()) {
    case InstructionSet::kAvx512:
      return avx512();
    case InstructionSet::kAvx2:
      return avx2();
    default:
      return baseline();
  }
}

}  // namespace

const Loops& SelectLoops() {
  if (HasAvx512Bf16()) {
    static const Loops loops = WithBf16Instructions();
    return loops;
  }
  return Select(BaselineLoops, Avx2Loops, Avx512Loops);
}

const AttentionLoops& SelectAttentionLoops() {
  return Select(BaselineAttentionLoops, Avx2AttentionLoops, Avx512AttentionLoops);
}

const WinogradLoops& SelectWinogradLoops() {
  return Select(BaselineWinogradLoops, Avx2WinogradLoops, Avx512WinogradLoops);
}

}  // namespace frugal::simd
