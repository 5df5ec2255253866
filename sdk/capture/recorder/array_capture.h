#pragma once

#include "sdk/capture/calls/array_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingArrayKernels final : public DecoratedKernels<ArrayKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  void CopyStrided(const Shape& extents, const Tensor& from, const StridedView& from_box,
                   const Tensor& to, const StridedView& to_box, bool accumulate) override {
    CopyStridedCall call;
    call.extents = extents;
    call.from = from;
    call.from_box = from_box;
    call.to = to;
    call.to_box = to_box;
    call.accumulate = accumulate;
    Record(call, nullptr);
  }
  void Binary(BinaryKind kind, const Tensor& a, const Tensor& b, const Tensor& y) override {
    BinaryCall call;
    call.kind = kind;
    call.a = a;
    call.b = b;
    call.y = y;
    Record(call, nullptr);
  }
  void UnaryForward(const UnaryFunction& f, const Tensor& x, const Tensor& y) override {
    UnaryForwardCall call;
    call.f = f;
    call.x = x;
    call.y = y;
    Record(call, nullptr);
  }
  void UnaryBackward(const UnaryFunction& f, const Tensor& dy, const Tensor& kept,
                     const Tensor& dx) override {
    UnaryBackwardCall call;
    call.f = f;
    call.dy = dy;
    call.kept = kept;
    call.dx = dx;
    Record(call, nullptr);
  }
  void Select(const Tensor& condition, const Tensor& a, const Tensor& b, const Tensor& y) override {
    SelectCall call;
    call.condition = condition;
    call.a = a;
    call.b = b;
    call.y = y;
    Record(call, nullptr);
  }
  void SumTo(const Tensor& x, double factor, const Tensor& y) override {
    SumToCall call;
    call.x = x;
    call.factor = factor;
    call.y = y;
    Record(call, nullptr);
  }
  void BatchedProduct(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b,
                      const Tensor& y) override {
    BatchedProductCall call;
    call.a = a;
    call.transpose_a = transpose_a;
    call.b = b;
    call.transpose_b = transpose_b;
    call.y = y;
    Record(call, nullptr);
  }
  void Gather(const Tensor& table, const Tensor& ids, const Tensor& y) override {
    GatherCall call;
    call.table = table;
    call.ids = ids;
    call.y = y;
    Record(call, nullptr);
  }
  void ScatterAdd(const Tensor& dy, const Tensor& ids, const Tensor& dtable, bool accumulate,
                  std::int64_t padding) override {
    ScatterAddCall call;
    call.dy = dy;
    call.ids = ids;
    call.dtable = dtable;
    call.accumulate = accumulate;
    call.padding = padding;
    Record(call, nullptr);
  }
};

}  // namespace frugal
