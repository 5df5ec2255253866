#pragma once

#include "sdk/backend/pool_kernels.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of PoolKernels (sdk/backend/pool_kernels.h), whose tensors and numbers they name.
namespace frugal {

// Its index is the backend's own and not recorded.
struct PoolMaxForwardCall final : Call {
  static constexpr std::string_view kName = "pool_max_forward";
  PoolGeometry g;
  Tensor x;
  Tensor y;
  Tensor index;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Prepare(Backend& backend, Allocator& memory) override {
    const std::int64_t bytes = backend.pool().MaxIndexBytes(g, x.dtype());
    if (!index) index = Tensor(memory, {bytes}, DType::kU8, MemoryTag::kWorkspace);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.pool().Scratch(g, x.dtype());
  }
  void Run(Backend& backend, void* scratch) override {
    backend.pool().MaxForward(g, x, y, index, scratch);
  }
};

// It has the forward's x, of which an index is made where it runs again.
struct PoolMaxBackwardCall final : Call {
  static constexpr std::string_view kName = "pool_max_backward";
  PoolGeometry g;
  Tensor x;
  Tensor dy;
  Tensor index;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("x", x);
    visitor.Input("dy", dy);
    visitor.Output("dx", dx);
  }
  void Prepare(Backend& backend, Allocator& memory) override {
    if (index) return;
    index = Tensor(memory, {backend.pool().MaxIndexBytes(g, x.dtype())}, DType::kU8,
                   MemoryTag::kWorkspace);
    const Tensor y(memory, dy.shape(), dy.dtype(), MemoryTag::kWorkspace);
    const Block scratch =
        memory.Allocate(backend.pool().Scratch(g, x.dtype()), MemoryTag::kWorkspace);
    backend.pool().MaxForward(g, x, y, index, scratch.data());
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.pool().Scratch(g, dy.dtype());
  }
  void Run(Backend& backend, void* scratch) override {
    backend.pool().MaxBackward(g, dy, index, dx, scratch);
  }
};

struct PoolAverageForwardCall final : Call {
  static constexpr std::string_view kName = "pool_average_forward";
  PoolGeometry g;
  Tensor x;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.pool().Scratch(g, x.dtype());
  }
  void Run(Backend& backend, void* scratch) override {
    backend.pool().AverageForward(g, x, y, scratch);
  }
};

struct PoolAverageBackwardCall final : Call {
  static constexpr std::string_view kName = "pool_average_backward";
  PoolGeometry g;
  Tensor dy;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("dy", dy);
    visitor.Output("dx", dx);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.pool().Scratch(g, dy.dtype());
  }
  void Run(Backend& backend, void* scratch) override {
    backend.pool().AverageBackward(g, dy, dx, scratch);
  }
};

struct PoolAdaptiveForwardCall final : Call {
  static constexpr std::string_view kName = "pool_adaptive_forward";
  PoolGeometry g;
  Tensor x;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.pool().AdaptiveForward(g, x, y); }
};

struct PoolAdaptiveBackwardCall final : Call {
  static constexpr std::string_view kName = "pool_adaptive_backward";
  PoolGeometry g;
  Tensor dy;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("dy", dy);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override { backend.pool().AdaptiveBackward(g, dy, dx); }
};

}  // namespace frugal
