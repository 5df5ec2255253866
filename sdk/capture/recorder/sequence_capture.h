#pragma once

#include "sdk/capture/calls/sequence_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingSequenceKernels final : public DecoratedKernels<SequenceKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  void Rotate(const RotaryGeometry& g, const Tensor& cosine, const Tensor& sine, bool inverse,
              const Tensor& x) override {
    RotateCall call;
    call.g = g;
    call.cosine = cosine;
    call.sine = sine;
    call.inverse = inverse;
    call.x = x;
    Record(call, nullptr);
  }
  void SineCosine(const Tensor& angles, bool cosine_first, const Tensor& y) override {
    SineCosineCall call;
    call.angles = angles;
    call.cosine_first = cosine_first;
    call.y = y;
    Record(call, nullptr);
  }
  void SineCosineBackward(const Tensor& dy, const Tensor& y, bool cosine_first,
                          const Tensor& dangles) override {
    SineCosineBackwardCall call;
    call.dy = dy;
    call.y = y;
    call.cosine_first = cosine_first;
    call.dangles = dangles;
    Record(call, nullptr);
  }
  void RotateBy(const Tensor& x, const Tensor& cosine, const Tensor& sine, bool transpose,
                const Tensor& y) override {
    RotateByCall call;
    call.x = x;
    call.cosine = cosine;
    call.sine = sine;
    call.transpose = transpose;
    call.y = y;
    Record(call, nullptr);
  }
  void RotateByBackwardAngles(const Tensor& dy, const Tensor& x, const Tensor& dcosine,
                              const Tensor& dsine) override {
    RotateByBackwardAnglesCall call;
    call.dy = dy;
    call.x = x;
    call.dcosine = dcosine;
    call.dsine = dsine;
    Record(call, nullptr);
  }
  void GatedForward(Activation f, bool gate_last, const Tensor& x, const Tensor& y) override {
    GatedForwardCall call;
    call.f = f;
    call.gate_last = gate_last;
    call.x = x;
    call.y = y;
    Record(call, nullptr);
  }
  void GatedBackward(Activation f, bool gate_last, const Tensor& dy, const Tensor& x,
                     const Tensor& dx) override {
    GatedBackwardCall call;
    call.f = f;
    call.gate_last = gate_last;
    call.dy = dy;
    call.x = x;
    call.dx = dx;
    Record(call, nullptr);
  }
  void RmsForward(const Tensor& x, const Tensor& weight, double epsilon, const Tensor& y,
                  const Tensor& rstd) override {
    RmsForwardCall call;
    call.x = x;
    call.weight = weight;
    call.epsilon = epsilon;
    call.y = y;
    call.rstd = rstd;
    Record(call, nullptr);
  }
  std::int64_t RmsBackwardScratch(const Tensor& x) const override {
    return inner().RmsBackwardScratch(x);
  }
  void RmsBackward(const Tensor& dy, const Tensor& x, const Tensor& rstd, const Tensor& weight,
                   const Tensor& dx, const Tensor& dweight, bool accumulate,
                   void* scratch) override {
    RmsBackwardCall call;
    call.dy = dy;
    call.x = x;
    call.rstd = rstd;
    call.weight = weight;
    call.dx = dx;
    call.dweight = dweight;
    call.accumulate = accumulate;
    Record(call, scratch);
  }
  void LstmForward(const Tensor& gates, const Tensor& cell_before, const Tensor& cell,
                   const Tensor& hidden) override {
    LstmForwardCall call;
    call.gates = gates;
    call.cell_before = cell_before;
    call.cell = cell;
    call.hidden = hidden;
    Record(call, nullptr);
  }
  void LstmBackward(const Tensor& dhidden, const Tensor& gates, const Tensor& cell_before,
                    const Tensor& cell, const Tensor& dcell, const Tensor& dgates) override {
    LstmBackwardCall call;
    call.dhidden = dhidden;
    call.gates = gates;
    call.cell_before = cell_before;
    call.cell = cell;
    call.dcell = dcell;
    call.dgates = dgates;
    Record(call, nullptr);
  }
  void GruForward(const Tensor& from_input, const Tensor& from_hidden, const Tensor& hidden_before,
                  const Tensor& hidden) override {
    GruForwardCall call;
    call.from_input = from_input;
    call.from_hidden = from_hidden;
    call.hidden_before = hidden_before;
    call.hidden = hidden;
    Record(call, nullptr);
  }
  void GruBackward(const Tensor& dhidden, const Tensor& from_input, const Tensor& from_hidden,
                   const Tensor& hidden_before, const Tensor& dhidden_before) override {
    GruBackwardCall call;
    call.dhidden = dhidden;
    call.from_input = from_input;
    call.from_hidden = from_hidden;
    call.hidden_before = hidden_before;
    call.dhidden_before = dhidden_before;
    Record(call, nullptr);
  }
};

}  // namespace frugal
