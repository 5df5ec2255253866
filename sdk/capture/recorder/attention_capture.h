#pragma once

#include "sdk/capture/calls/attention_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingAttentionKernels final : public DecoratedKernels<AttentionKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  std::int64_t ForwardScratch(const AttentionGeometry& g, DType dtype) const override {
    return inner().ForwardScratch(g, dtype);
  }
  void Forward(const AttentionGeometry& g, const HeadsView& q, const HeadsView& k,
               const HeadsView& v, const Tensor& mask, const Tensor& y, const Tensor& log_sum_exp,
               void* scratch) override {
    AttentionForwardCall call;
    call.g = g;
    call.q = q;
    call.k = k;
    call.v = v;
    call.mask = mask;
    call.y = y;
    call.log_sum_exp = log_sum_exp;
    Record(call, scratch);
  }
  std::int64_t BackwardScratch(const AttentionGeometry& g, DType dtype) const override {
    return inner().BackwardScratch(g, dtype);
  }
  void Backward(const AttentionGeometry& g, const Tensor& dy, const HeadsView& q,
                const HeadsView& k, const HeadsView& v, const Tensor& mask, const Tensor& y,
                const Tensor& log_sum_exp, const HeadsView& dq, const HeadsView& dk,
                const HeadsView& dv, void* scratch) override {
    AttentionBackwardCall call;
    call.g = g;
    call.dy = dy;
    call.q = q;
    call.k = k;
    call.v = v;
    call.mask = mask;
    call.y = y;
    call.log_sum_exp = log_sum_exp;
    call.dq = dq;
    call.dk = dk;
    call.dv = dv;
    Record(call, scratch);
  }
};

}  // namespace frugal
