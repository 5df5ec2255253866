#pragma once

#include "sdk/capture/calls/modulation_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingModulationKernels final : public DecoratedKernels<ModulationKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  std::int64_t ModulateScratch(const Tensor& x) const override {
    return inner().ModulateScratch(x);
  }
  void Modulate(const Tensor& x, const Tensor& shift, const Tensor& scale, const Tensor& y,
                void* scratch) override {
    ModulateCall call;
    call.x = x;
    call.shift = shift;
    call.scale = scale;
    call.y = y;
    Record(call, scratch);
  }
  void ModulateBackward(const Tensor& dy, const Tensor& x, const Tensor& scale, const Tensor& dx,
                        const Tensor& dshift, const Tensor& dscale, void* scratch) override {
    ModulateBackwardCall call;
    call.dy = dy;
    call.x = x;
    call.scale = scale;
    call.dx = dx;
    call.dshift = dshift;
    call.dscale = dscale;
    Record(call, scratch);
  }
  std::int64_t GatedAddScratch(const Tensor& x) const override {
    return inner().GatedAddScratch(x);
  }
  void GatedAdd(const Tensor& x, const Tensor& gate, const Tensor& residual, const Tensor& y,
                void* scratch) override {
    GatedAddCall call;
    call.x = x;
    call.gate = gate;
    call.residual = residual;
    call.y = y;
    Record(call, scratch);
  }
  void GatedAddBackward(const Tensor& dy, const Tensor& x, const Tensor& gate, const Tensor& dx,
                        const Tensor& dgate, void* scratch) override {
    GatedAddBackwardCall call;
    call.dy = dy;
    call.x = x;
    call.gate = gate;
    call.dx = dx;
    call.dgate = dgate;
    Record(call, scratch);
  }
  std::int64_t LayerScratch(const Tensor& x) const override { return inner().LayerScratch(x); }
  void LayerForward(const Tensor& x, const LayerParts& parts, double epsilon, const Tensor& y,
                    const Tensor& mean, const Tensor& rstd, void* scratch) override {
    ModulationLayerForwardCall call;
    call.x = x;
    call.parts = parts;
    call.epsilon = epsilon;
    call.y = y;
    call.mean = mean;
    call.rstd = rstd;
    Record(call, scratch);
  }
  void LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                     const LayerParts& parts, const LayerGradients& gradients,
                     void* scratch) override {
    ModulationLayerBackwardCall call;
    call.dy = dy;
    call.x = x;
    call.mean = mean;
    call.rstd = rstd;
    call.parts = parts;
    call.gradients = gradients;
    Record(call, scratch);
  }
};

}  // namespace frugal
