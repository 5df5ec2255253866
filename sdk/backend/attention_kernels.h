#pragma once

#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal {

// The heads of queries, keys or values inside a wider tensor [B, T, row]: head h of position t
// starts at element (t * row + offset + h * head_size). So q, k and v can lie side by side in the
// output of one product, and their gradients in one gradient.
struct HeadsView {
  Tensor tensor;
  std::int64_t offset = 0;  // elements into each row
};

// B batch, Tq and Tk positions, H query heads, G key/value heads (G divides H: grouped queries,
// arXiv:2305.13245), d size of a head.
struct AttentionGeometry {
  std::int64_t batch = 1;
  std::int64_t query_length = 1;
  std::int64_t key_length = 1;
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t head_size = 1;
  double scale = 1;  // of the products q k^T
  // Query t sees keys up to t + key_length - query_length.
  bool causal = false;
};

// softmax(scale q k^T + mask) v, tile by tile: the matrix of scores is never written (Dao et al.,
// arXiv:2205.14135). Kept for backward are the output and one log-sum-exp per query and head.
//
// q [B, Tq, ...], k and v [B, Tk, ...] as views; y [B, Tq, H * d]; log_sum_exp [B, H, Tq] (kF32,
// or kF64 for f64); mask is added to the scores, [1 or B, 1 or H, Tq, Tk] or none, of the type of q
// or, with bf16, kF32.
class AttentionKernels {
 public:
  virtual ~AttentionKernels() = default;

  virtual std::int64_t ForwardScratch(const AttentionGeometry& g, DType dtype) const = 0;
  virtual void Forward(const AttentionGeometry& g, const HeadsView& q, const HeadsView& k,
                       const HeadsView& v, const Tensor& mask, const Tensor& y,
                       const Tensor& log_sum_exp, void* scratch) = 0;
  virtual std::int64_t BackwardScratch(const AttentionGeometry& g, DType dtype) const = 0;
  // dq, dk and dv are written whole within their views; nothing outside of them is touched.
  virtual void Backward(const AttentionGeometry& g, const Tensor& dy, const HeadsView& q,
                        const HeadsView& k, const HeadsView& v, const Tensor& mask, const Tensor& y,
                        const Tensor& log_sum_exp, const HeadsView& dq, const HeadsView& dk,
                        const HeadsView& dv, void* scratch) = 0;
};

}  // namespace frugal
