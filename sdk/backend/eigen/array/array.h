#pragma once

#include "sdk/backend/array_kernels.h"

namespace frugal {

// Arithmetic in f32 and f64; CopyStrided without `accumulate`, and Gather, take every element type.
// Needs no scratch.
class EigenArrayKernels : public ArrayKernels {
 public:
  // `from` and `to` may be one tensor where the boxes do not overlap. Strides may be negative.
  void CopyStrided(const Shape& extents, const Tensor& from, const StridedView& from_box,
                   const Tensor& to, const StridedView& to_box, bool accumulate) override;
  // y may be an operand of its own shape.
  void Binary(BinaryKind kind, const Tensor& a, const Tensor& b, const Tensor& y) override;
  void UnaryForward(const UnaryFunction& f, const Tensor& x, const Tensor& y) override;
  void UnaryBackward(const UnaryFunction& f, const Tensor& dy, const Tensor& kept,
                     const Tensor& dx) override;
  // y may be an operand of its own shape.
  void Select(const Tensor& condition, const Tensor& a, const Tensor& b, const Tensor& y) override;
  // Summed in double precision.
  void SumTo(const Tensor& x, double factor, const Tensor& y) override;
  // a, b and y have equal ranks of at least 2.
  void BatchedProduct(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b,
                      const Tensor& y) override;
  void Gather(const Tensor& table, const Tensor& ids, const Tensor& y) override;
  // Throws DataError as Gather does, before anything is written.
  void ScatterAdd(const Tensor& dy, const Tensor& ids, const Tensor& dtable, bool accumulate,
                  std::int64_t padding) override;
};

}  // namespace frugal
