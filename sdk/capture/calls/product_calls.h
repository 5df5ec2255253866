#pragma once

#include "sdk/backend/product_kernels.h"
#include "sdk/capture/calls/call.h"

// Calls of ProductKernels (sdk/backend/product_kernels.h), whose tensors and numbers they name.
namespace frugal {

// The base of calls of products, which share a weight. Its private layout is made anew where they
// run again. Its rows are padded to the width that was recorded where a backend has no wide rows.
struct ProductCall : Call {
  bool packed = false;  // the recorded one had the backend's own layout

 protected:
  void VisitLayout(CallVisitor& visitor, LinearWeight& weight);
  // Gives the weight what the backend reads of it, if products of `dtype` tensors ask for it.
  void PrepareWeight(Backend& backend, Allocator& memory, LinearWeight& weight, DType dtype);
};

struct LinearForwardCall final : ProductCall {
  static constexpr std::string_view kName = "linear_forward";
  Tensor x;
  LinearWeight weight{Tensor()};
  Tensor bias;
  Tensor residual;
  Tensor y;
  LinearEpilogue epilogue;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override;
  void Prepare(Backend& backend, Allocator& memory) override {
    PrepareWeight(backend, memory, weight, x.dtype());
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.product().LinearForwardScratch(x, weight);
  }
  double Flops() const override {
    return 2.0 * static_cast<double>(x.size()) * static_cast<double>(weight.outputs());
  }
  // The activation is applied behind the product by a backend that does not fuse it.
  void Run(Backend& backend, void* scratch) override;
};

struct LinearBackwardDataCall final : ProductCall {
  static constexpr std::string_view kName = "linear_backward_data";
  Tensor dy;
  LinearWeight weight{Tensor()};
  Tensor dx;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override;
  void Prepare(Backend& backend, Allocator& memory) override {
    PrepareWeight(backend, memory, weight, dy.dtype());
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.product().LinearBackwardDataScratch(dy, weight);
  }
  double Flops() const override {
    return 2.0 * static_cast<double>(dx.size()) * static_cast<double>(weight.outputs());
  }
  void Run(Backend& backend, void* scratch) override {
    backend.product().LinearBackwardData(dy, weight, dx, accumulate, scratch);
  }
};

struct LinearBackwardWeightCall final : ProductCall {
  static constexpr std::string_view kName = "linear_backward_weight";
  Tensor dy;
  Tensor x;
  LinearWeight dweight{Tensor()};
  Tensor dbias;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override;
  std::int64_t Scratch(Backend& backend) const override {
    return backend.product().LinearBackwardWeightScratch(dy, x, accumulate);
  }
  double Flops() const override {
    return 2.0 * static_cast<double>(x.size()) * static_cast<double>(dweight.outputs());
  }
  void Run(Backend& backend, void* scratch) override {
    backend.product().LinearBackwardWeight(dy, x, dweight, dbias, accumulate, scratch);
  }
};

}  // namespace frugal
