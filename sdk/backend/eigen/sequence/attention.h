#pragma once

#include "sdk/backend/attention_kernels.h"

namespace frugal {

// Reference attention in f32 and f64: tiles of 64 queries by 64 keys, with Eigen products. Scratch
// holds two tiles per thread, whatever the lengths; it depends on ThreadCount(), which must not
// grow between the call that asks for the size and the kernel. Results do not depend on the number
// of threads. A query that sees no key, or only keys with a mask of -infinity (or the lowest finite
// number), gets y = 0, a
// log-sum-exp of -infinity and no gradient.
class EigenAttentionKernels : public AttentionKernels {
 public:
  std::int64_t ForwardScratch(const AttentionGeometry& g, DType dtype) const override;
  void Forward(const AttentionGeometry& g, const HeadsView& q, const HeadsView& k,
               const HeadsView& v, const Tensor& mask, const Tensor& y, const Tensor& log_sum_exp,
               void* scratch) override;
  std::int64_t BackwardScratch(const AttentionGeometry& g, DType dtype) const override;
  void Backward(const AttentionGeometry& g, const Tensor& dy, const HeadsView& q,
                const HeadsView& k, const HeadsView& v, const Tensor& mask, const Tensor& y,
                const Tensor& log_sum_exp, const HeadsView& dq, const HeadsView& dk,
                const HeadsView& dv, void* scratch) override;
};

}  // namespace frugal
