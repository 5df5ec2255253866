#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of ArrayKernels (sdk/backend/array_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct CopyStridedCall final : Call {
  static constexpr std::string_view kName = "copy_strided";
  Shape extents;
  Tensor from;
  StridedView from_box;
  Tensor to;
  StridedView to_box;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("extents", extents);
    visitor.Attribute("accumulate", accumulate);
    VisitFields(visitor, "from_", from_box);
    VisitFields(visitor, "to_", to_box);
    visitor.Input("from", from);
    visitor.Written("to", to, {extents, to_box}, accumulate);
  }
  NullExcuses excuses() const override { return {.copy = true}; }
  void Run(Backend& backend, void*) override {
    backend.array().CopyStrided(extents, from, from_box, to, to_box, accumulate);
  }
};

struct BinaryCall final : Call {
  static constexpr std::string_view kName = "binary";
  BinaryKind kind = BinaryKind::kAdd;
  Tensor a;
  Tensor b;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("kind", kind);
    visitor.Input("a", a);
    visitor.Input("b", b);
    visitor.Output("y", y);
  }
  NullExcuses excuses() const override {
    if (kind != BinaryKind::kAdd && kind != BinaryKind::kMultiply) return {};
    return {.either = "a", .other = "b"};
  }
  void Run(Backend& backend, void*) override { backend.array().Binary(kind, a, b, y); }
};

struct UnaryForwardCall final : Call {
  static constexpr std::string_view kName = "unary_forward";
  UnaryFunction f;
  Tensor x;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, f);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.array().UnaryForward(f, x, y); }
};

struct UnaryBackwardCall final : Call {
  static constexpr std::string_view kName = "unary_backward";
  UnaryFunction f;
  Tensor dy;
  Tensor kept;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, f);
    visitor.Input("dy", dy);
    visitor.Input("kept", kept);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override { backend.array().UnaryBackward(f, dy, kept, dx); }
};

struct SelectCall final : Call {
  static constexpr std::string_view kName = "select";
  Tensor condition;
  Tensor a;
  Tensor b;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("condition", condition);
    visitor.Input("a", a);
    visitor.Input("b", b);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.array().Select(condition, a, b, y); }
};

struct SumToCall final : Call {
  static constexpr std::string_view kName = "sum_to";
  Tensor x;
  double factor = 0;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("factor", factor);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.array().SumTo(x, factor, y); }
};

struct BatchedProductCall final : Call {
  static constexpr std::string_view kName = "batched_product";
  Tensor a;
  bool transpose_a = false;
  Tensor b;
  bool transpose_b = false;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("transpose_a", transpose_a);
    visitor.Attribute("transpose_b", transpose_b);
    visitor.Input("a", a);
    visitor.Input("b", b);
    visitor.Output("y", y);
  }
  double Flops() const override {
    return 2.0 * static_cast<double>(y.size()) *
           static_cast<double>(a.shape()[a.shape().rank() - (transpose_a ? 2 : 1)]);
  }
  void Run(Backend& backend, void*) override {
    backend.array().BatchedProduct(a, transpose_a, b, transpose_b, y);
  }
};

struct GatherCall final : Call {
  static constexpr std::string_view kName = "gather";
  Tensor table;
  Tensor ids;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("table", table);
    visitor.Input("ids", ids);
    visitor.Output("y", y);
  }
  NullExcuses excuses() const override { return {.copy = true}; }
  void Run(Backend& backend, void*) override { backend.array().Gather(table, ids, y); }
};

struct ScatterAddCall final : Call {
  static constexpr std::string_view kName = "scatter_add";
  Tensor dy;
  Tensor ids;
  Tensor dtable;
  bool accumulate = false;
  std::int64_t padding = 0;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("accumulate", accumulate);
    visitor.Attribute("padding", padding);
    visitor.Input("dy", dy);
    visitor.Input("ids", ids);
    visitor.Gradient("dtable", dtable, accumulate);
  }
  void Run(Backend& backend, void*) override {
    backend.array().ScatterAdd(dy, ids, dtable, accumulate, padding);
  }
};

}  // namespace frugal
