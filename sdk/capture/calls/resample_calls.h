#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of ResampleKernels (sdk/backend/array_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct ResampleNearestForwardCall final : Call {
  static constexpr std::string_view kName = "resample_nearest_forward";
  std::int64_t factor = 0;
  Tensor x;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("factor", factor);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.resample().NearestForward(factor, x, y); }
};

struct ResampleNearestBackwardCall final : Call {
  static constexpr std::string_view kName = "resample_nearest_backward";
  std::int64_t factor = 0;
  Tensor dy;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("factor", factor);
    visitor.Input("dy", dy);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override { backend.resample().NearestBackward(factor, dy, dx); }
};

struct ResampleBilinearForwardCall final : Call {
  static constexpr std::string_view kName = "resample_bilinear_forward";
  std::int64_t factor = 0;
  Tensor x;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("factor", factor);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.resample().BilinearForward(factor, x, y); }
};

struct ResampleBilinearBackwardCall final : Call {
  static constexpr std::string_view kName = "resample_bilinear_backward";
  std::int64_t factor = 0;
  Tensor dy;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("factor", factor);
    visitor.Input("dy", dy);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override {
    backend.resample().BilinearBackward(factor, dy, dx);
  }
};

}  // namespace frugal
