#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of AttentionKernels (sdk/backend/attention_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct AttentionForwardCall final : Call {
  static constexpr std::string_view kName = "attention_forward";
  AttentionGeometry g;
  HeadsView q;
  HeadsView k;
  HeadsView v;
  Tensor mask;
  Tensor y;
  Tensor log_sum_exp;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    VisitHeads(visitor, "q", q);
    VisitHeads(visitor, "k", k);
    VisitHeads(visitor, "v", v);
    visitor.Input("mask", mask);
    visitor.Output("y", y);
    visitor.Output("log_sum_exp", log_sum_exp);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.attention().ForwardScratch(g, y.dtype());
  }
  double Flops() const override { return 2 * ProductFlopsOf(g); }
  void Run(Backend& backend, void* scratch) override {
    backend.attention().Forward(g, q, k, v, mask, y, log_sum_exp, scratch);
  }
};

struct AttentionBackwardCall final : Call {
  static constexpr std::string_view kName = "attention_backward";
  AttentionGeometry g;
  Tensor dy;
  HeadsView q;
  HeadsView k;
  HeadsView v;
  Tensor mask;
  Tensor y;
  Tensor log_sum_exp;
  HeadsView dq;
  HeadsView dk;
  HeadsView dv;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("dy", dy);
    VisitHeads(visitor, "q", q);
    VisitHeads(visitor, "k", k);
    VisitHeads(visitor, "v", v);
    visitor.Input("mask", mask);
    visitor.Input("y", y);
    visitor.Input("log_sum_exp", log_sum_exp);
    VisitHeadGradients(visitor, "dq", dq, g.heads * g.head_size);
    VisitHeadGradients(visitor, "dk", dk, g.key_heads * g.head_size);
    VisitHeadGradients(visitor, "dv", dv, g.key_heads * g.head_size);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.attention().BackwardScratch(g, y.dtype());
  }
  double Flops() const override { return 5 * ProductFlopsOf(g); }
  void Run(Backend& backend, void* scratch) override {
    backend.attention().Backward(g, dy, q, k, v, mask, y, log_sum_exp, dq, dk, dv, scratch);
  }
};

}  // namespace frugal
