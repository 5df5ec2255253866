#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of NormKernels (sdk/backend/norm_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct NormLayerForwardCall final : Call {
  static constexpr std::string_view kName = "norm_layer_forward";
  Tensor x;
  Tensor weight;
  Tensor bias;
  double epsilon = 0;
  Tensor y;
  Tensor mean;
  Tensor rstd;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("epsilon", epsilon);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Output("y", y);
    visitor.Output("mean", mean);
    visitor.Output("rstd", rstd);
  }
  void Run(Backend& backend, void*) override {
    backend.norm().LayerForward(x, weight, bias, epsilon, y, mean, rstd);
  }
};

struct NormLayerBackwardCall final : Call {
  static constexpr std::string_view kName = "norm_layer_backward";
  Tensor dy;
  Tensor x;
  Tensor mean;
  Tensor rstd;
  Tensor weight;
  Tensor dx;
  Tensor dweight;
  Tensor dbias;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("accumulate", accumulate);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("mean", mean);
    visitor.Input("rstd", rstd);
    visitor.Input("weight", weight);
    visitor.Output("dx", dx);
    visitor.Gradient("dweight", dweight, accumulate);
    visitor.Gradient("dbias", dbias, accumulate);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.norm().LayerBackwardScratch(x);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.norm().LayerBackward(dy, x, mean, rstd, weight, dx, dweight, dbias, accumulate,
                                 scratch);
  }
};

struct NormGroupForwardCall final : Call {
  static constexpr std::string_view kName = "norm_group_forward";
  GroupNormGeometry g;
  Tensor x;
  Tensor weight;
  Tensor bias;
  double epsilon = 0;
  Tensor y;
  Tensor mean;
  Tensor rstd;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Attribute("epsilon", epsilon);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Output("y", y);
    visitor.Output("mean", mean);
    visitor.Output("rstd", rstd);
  }
  void Run(Backend& backend, void*) override {
    backend.norm().GroupForward(g, x, weight, bias, epsilon, y, mean, rstd);
  }
};

struct NormGroupNormalizeCall final : Call {
  static constexpr std::string_view kName = "norm_group_normalize";
  GroupNormGeometry g;
  Tensor x;
  Tensor weight;
  Tensor bias;
  Tensor mean;
  Tensor rstd;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Input("mean", mean);
    visitor.Input("rstd", rstd);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override {
    backend.norm().GroupNormalize(g, x, weight, bias, mean, rstd, y);
  }
};

struct NormGroupBackwardCall final : Call {
  static constexpr std::string_view kName = "norm_group_backward";
  GroupNormGeometry g;
  Tensor dy;
  Tensor x;
  Tensor mean;
  Tensor rstd;
  Tensor weight;
  Tensor dx;
  Tensor dweight;
  Tensor dbias;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Attribute("accumulate", accumulate);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("mean", mean);
    visitor.Input("rstd", rstd);
    visitor.Input("weight", weight);
    visitor.Output("dx", dx);
    visitor.Gradient("dweight", dweight, accumulate);
    visitor.Gradient("dbias", dbias, accumulate);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.norm().GroupBackwardScratch(g, x.dtype());
  }
  void Run(Backend& backend, void* scratch) override {
    backend.norm().GroupBackward(g, dy, x, mean, rstd, weight, dx, dweight, dbias, accumulate,
                                 scratch);
  }
};

struct NormBatchForwardCall final : Call {
  static constexpr std::string_view kName = "norm_batch_forward";
  Tensor x;
  Tensor weight;
  Tensor bias;
  double epsilon = 0;
  bool relu = false;
  Tensor y;
  Tensor mean;
  Tensor rstd;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("epsilon", epsilon);
    visitor.Attribute("relu", relu);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Output("y", y);
    visitor.Output("mean", mean);
    visitor.Output("rstd", rstd);
  }
  std::int64_t Scratch(Backend& backend) const override { return backend.norm().BatchScratch(x); }
  void Run(Backend& backend, void* scratch) override {
    backend.norm().BatchForward(x, weight, bias, epsilon, relu, y, mean, rstd, scratch);
  }
};

struct NormBatchNormalizeCall final : Call {
  static constexpr std::string_view kName = "norm_batch_normalize";
  Tensor x;
  Tensor weight;
  Tensor bias;
  Tensor mean;
  Tensor rstd;
  bool relu = false;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("relu", relu);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Input("mean", mean);
    visitor.Input("rstd", rstd);
    visitor.Output("y", y);
  }
  std::int64_t Scratch(Backend& backend) const override { return backend.norm().BatchScratch(x); }
  NullExcuses excuses() const override { return {.either = "weight", .other = "rstd"}; }
  void Run(Backend& backend, void* scratch) override {
    backend.norm().BatchNormalize(x, weight, bias, mean, rstd, relu, y, scratch);
  }
};

struct NormBatchInferenceCall final : Call {
  static constexpr std::string_view kName = "norm_batch_inference";
  Tensor x;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_variance;
  double epsilon = 0;
  bool relu = false;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("epsilon", epsilon);
    visitor.Attribute("relu", relu);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Input("running_mean", running_mean);
    visitor.Input("running_variance", running_variance);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override {
    backend.norm().BatchInference(x, weight, bias, running_mean, running_variance, epsilon, relu,
                                  y);
  }
};

struct NormBatchBackwardCall final : Call {
  static constexpr std::string_view kName = "norm_batch_backward";
  Tensor dy;
  Tensor x;
  Tensor mean;
  Tensor rstd;
  Tensor weight;
  Tensor bias;
  bool relu = false;
  Tensor dx;
  Tensor dweight;
  Tensor dbias;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("relu", relu);
    visitor.Attribute("accumulate", accumulate);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("mean", mean);
    visitor.Input("rstd", rstd);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Output("dx", dx);
    visitor.Gradient("dweight", dweight, accumulate);
    visitor.Gradient("dbias", dbias, accumulate);
  }
  std::int64_t Scratch(Backend& backend) const override { return backend.norm().BatchScratch(x); }
  void Run(Backend& backend, void* scratch) override {
    backend.norm().BatchBackward(dy, x, mean, rstd, weight, bias, relu, dx, dweight, dbias,
                                 accumulate, scratch);
  }
};

struct NormBatchInferenceBackwardCall final : Call {
  static constexpr std::string_view kName = "norm_batch_inference_backward";
  Tensor dy;
  Tensor x;
  Tensor y;
  Tensor running_mean;
  Tensor running_variance;
  Tensor weight;
  Tensor bias;
  double epsilon = 0;
  bool relu = false;
  Tensor dx;
  Tensor dweight;
  Tensor dbias;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("epsilon", epsilon);
    visitor.Attribute("relu", relu);
    visitor.Attribute("accumulate", accumulate);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("y", y);
    visitor.Input("running_mean", running_mean);
    visitor.Input("running_variance", running_variance);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Output("dx", dx);
    visitor.Gradient("dweight", dweight, accumulate);
    visitor.Gradient("dbias", dbias, accumulate);
  }
  std::int64_t Scratch(Backend& backend) const override { return backend.norm().BatchScratch(dy); }
  void Run(Backend& backend, void* scratch) override {
    backend.norm().BatchInferenceBackward(dy, x, y, running_mean, running_variance, weight, bias,
                                          epsilon, relu, dx, dweight, dbias, accumulate, scratch);
  }
};

struct NormUpdateRunningCall final : Call {
  static constexpr std::string_view kName = "norm_update_running";
  Tensor mean;
  Tensor rstd;
  double epsilon = 0;
  double momentum = 0;
  std::int64_t rows = 0;
  Tensor running_mean;
  Tensor running_variance;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("epsilon", epsilon);
    visitor.Attribute("momentum", momentum);
    visitor.Attribute("rows", rows);
    visitor.Input("mean", mean);
    visitor.Input("rstd", rstd);
    visitor.Updated("running_mean", running_mean);
    visitor.Updated("running_variance", running_variance);
  }
  void Run(Backend& backend, void*) override {
    backend.norm().UpdateRunning(mean, rstd, epsilon, momentum, rows, running_mean,
                                 running_variance);
  }
};

}  // namespace frugal
