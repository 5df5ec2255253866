#pragma once

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/eigen/sequence/attention.h"
#include "sdk/backend/onednn/simd/attention/attention_loops.h"

namespace frugal {

// f32 attention in tiles of 64 queries by 64 keys that stay in the first caches, with products of
// our own (simd/attention/tile_product.h): a tile's products are too small for the calls of a
// library.
//
// bf16 attention (q, k, v, y and their gradients; the log-sum-exp is kF32, the mask kF32 or kBF16)
// on matrix tiles where the processor has them: products of bf16 with sums of f32, the softmax in
// f32, its probabilities rounded to bf16 between the products. Elsewhere the tiles of f32 read and
// write bf16. f64 goes to the reference; other types are a UsageError.
//
// Scratch holds, per thread, one head's keys and values and, for backward, the sums of their
// gradients; with fewer than 8 key heads the sums are kept per task (8 to 14). It depends on
// ThreadCount(), which must not grow between the call that asks for the size and the kernel.
// Results do not depend on the number of threads.
//
// Scores are kept in units of ln 2, so that a mask below -2.3e38 counts as -infinity, as it does in
// the reference.
class OneDnnAttentionKernels final : public EigenAttentionKernels {
 public:
  OneDnnAttentionKernels() : OneDnnAttentionKernels(simd::SelectAttentionLoops(), true) {}
  // Makes kernels that run with these loops, and on matrix tiles only where `amx_tiles`.
  explicit OneDnnAttentionKernels(const simd::AttentionLoops& loops, bool amx_tiles = false)
      : loops_(loops), amx_tiles_(amx_tiles && simd::HasAmxBf16()) {}

  std::int64_t ForwardScratch(const AttentionGeometry& g, DType dtype) const override;
  void Forward(const AttentionGeometry& g, const HeadsView& q, const HeadsView& k,
               const HeadsView& v, const Tensor& mask, const Tensor& y, const Tensor& log_sum_exp,
               void* scratch) override;
  std::int64_t BackwardScratch(const AttentionGeometry& g, DType dtype) const override;
  void Backward(const AttentionGeometry& g, const Tensor& dy, const HeadsView& q,
                const HeadsView& k, const HeadsView& v, const Tensor& mask, const Tensor& y,
                const Tensor& log_sum_exp, const HeadsView& dq, const HeadsView& dk,
                const HeadsView& dv, void* scratch) override;

 private:
  bool OnAmxTiles(DType dtype) const { return amx_tiles_ && dtype == DType::kBF16; }

  const simd::AttentionLoops& loops_;
  const bool amx_tiles_;
};

}  // namespace frugal
