#pragma once

#include "sdk/capture/calls/norm_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingNormKernels final : public DecoratedKernels<NormKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  bool TakesBf16(std::int64_t channels) const override { return inner().TakesBf16(channels); }
  void LayerForward(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                    const Tensor& y, const Tensor& mean, const Tensor& rstd) override {
    NormLayerForwardCall call;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.epsilon = epsilon;
    call.y = y;
    call.mean = mean;
    call.rstd = rstd;
    Record(call, nullptr);
  }
  std::int64_t LayerBackwardScratch(const Tensor& x) const override {
    return inner().LayerBackwardScratch(x);
  }
  void LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                     const Tensor& weight, const Tensor& dx, const Tensor& dweight,
                     const Tensor& dbias, bool accumulate, void* scratch) override {
    NormLayerBackwardCall call;
    call.dy = dy;
    call.x = x;
    call.mean = mean;
    call.rstd = rstd;
    call.weight = weight;
    call.dx = dx;
    call.dweight = dweight;
    call.dbias = dbias;
    call.accumulate = accumulate;
    Record(call, scratch);
  }
  void GroupForward(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                    const Tensor& bias, double epsilon, const Tensor& y, const Tensor& mean,
                    const Tensor& rstd) override {
    NormGroupForwardCall call;
    call.g = g;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.epsilon = epsilon;
    call.y = y;
    call.mean = mean;
    call.rstd = rstd;
    Record(call, nullptr);
  }
  void GroupNormalize(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                      const Tensor& y) override {
    NormGroupNormalizeCall call;
    call.g = g;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.mean = mean;
    call.rstd = rstd;
    call.y = y;
    Record(call, nullptr);
  }
  std::int64_t GroupBackwardScratch(const GroupNormGeometry& g, DType dtype) const override {
    return inner().GroupBackwardScratch(g, dtype);
  }
  void GroupBackward(const GroupNormGeometry& g, const Tensor& dy, const Tensor& x,
                     const Tensor& mean, const Tensor& rstd, const Tensor& weight, const Tensor& dx,
                     const Tensor& dweight, const Tensor& dbias, bool accumulate,
                     void* scratch) override {
    NormGroupBackwardCall call;
    call.g = g;
    call.dy = dy;
    call.x = x;
    call.mean = mean;
    call.rstd = rstd;
    call.weight = weight;
    call.dx = dx;
    call.dweight = dweight;
    call.dbias = dbias;
    call.accumulate = accumulate;
    Record(call, scratch);
  }
  std::int64_t BatchScratch(const Tensor& x) const override { return inner().BatchScratch(x); }
  void BatchForward(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                    bool relu, const Tensor& y, const Tensor& mean, const Tensor& rstd,
                    void* scratch) override {
    NormBatchForwardCall call;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.epsilon = epsilon;
    call.relu = relu;
    call.y = y;
    call.mean = mean;
    call.rstd = rstd;
    Record(call, scratch);
  }
  void BatchNormalize(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                      const Tensor& rstd, bool relu, const Tensor& y, void* scratch) override {
    NormBatchNormalizeCall call;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.mean = mean;
    call.rstd = rstd;
    call.relu = relu;
    call.y = y;
    Record(call, scratch);
  }
  void BatchInference(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Tensor& running_mean, const Tensor& running_variance, double epsilon,
                      bool relu, const Tensor& y) override {
    NormBatchInferenceCall call;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.running_mean = running_mean;
    call.running_variance = running_variance;
    call.epsilon = epsilon;
    call.relu = relu;
    call.y = y;
    Record(call, nullptr);
  }
  void BatchBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                     const Tensor& weight, const Tensor& bias, bool relu, const Tensor& dx,
                     const Tensor& dweight, const Tensor& dbias, bool accumulate,
                     void* scratch) override {
    NormBatchBackwardCall call;
    call.dy = dy;
    call.x = x;
    call.mean = mean;
    call.rstd = rstd;
    call.weight = weight;
    call.bias = bias;
    call.relu = relu;
    call.dx = dx;
    call.dweight = dweight;
    call.dbias = dbias;
    call.accumulate = accumulate;
    Record(call, scratch);
  }
  void BatchInferenceBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                              const Tensor& running_mean, const Tensor& running_variance,
                              const Tensor& weight, const Tensor& bias, double epsilon, bool relu,
                              const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
                              bool accumulate, void* scratch) override {
    NormBatchInferenceBackwardCall call;
    call.dy = dy;
    call.x = x;
    call.y = y;
    call.running_mean = running_mean;
    call.running_variance = running_variance;
    call.weight = weight;
    call.bias = bias;
    call.epsilon = epsilon;
    call.relu = relu;
    call.dx = dx;
    call.dweight = dweight;
    call.dbias = dbias;
    call.accumulate = accumulate;
    Record(call, scratch);
  }
  void UpdateRunning(const Tensor& mean, const Tensor& rstd, double epsilon, double momentum,
                     std::int64_t rows, const Tensor& running_mean,
                     const Tensor& running_variance) override {
    NormUpdateRunningCall call;
    call.mean = mean;
    call.rstd = rstd;
    call.epsilon = epsilon;
    call.momentum = momentum;
    call.rows = rows;
    call.running_mean = running_mean;
    call.running_variance = running_variance;
    Record(call, nullptr);
  }
};

}  // namespace frugal
