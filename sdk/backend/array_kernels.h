#pragma once

#include <array>
#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal {

// A box of elements inside a tensor: `extents` elements along each axis, `strides` elements apart
// (0 = the same element again), starting `offset` elements into the tensor.
struct StridedView {
  std::int64_t offset = 0;
  std::array<std::int64_t, Shape::kMaxRank> strides{};
};

enum class BinaryKind : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kGreater,  // 1 where a > b, else 0
};

enum class UnaryKind : std::uint8_t {
  kLog,
  kSqrt,
  kAbs,
  kPow,    // x^a
  kClamp,  // x, but at least a and at most b
  kShift,  // x + a
};

// A function of each element with its numbers.
struct UnaryFunction {
  UnaryKind kind = UnaryKind::kShift;
  double a = 0, b = 0;
};

// Copies, sums and arithmetic between tensors of different shapes. One element type per call.
class ArrayKernels {
 public:
  virtual ~ArrayKernels() = default;

  // to[box] = from[box], or += with `accumulate` (then no element of `to` may be met twice).
  // Concatenation, slices with steps, padding, axis permutations and repetition are all this.
  virtual void CopyStrided(const Shape& extents, const Tensor& from, const StridedView& from_box,
                           const Tensor& to, const StridedView& to_box, bool accumulate) = 0;
  // y = a op b, where an extent of 1 in a or b is repeated to y's. Ranks are equal.
  virtual void Binary(BinaryKind kind, const Tensor& a, const Tensor& b, const Tensor& y) = 0;
  // y = f(x); y may be x.
  virtual void UnaryForward(const UnaryFunction& f, const Tensor& x, const Tensor& y) = 0;
  // dx = dy f'(x), where `kept` is x, or y of kSqrt; dx may be dy. Conventions are PyTorch's: |x|
  // has slope 0 at 0, kClamp has 1 at its bounds, x^0 has 0 everywhere.
  virtual void UnaryBackward(const UnaryFunction& f, const Tensor& dy, const Tensor& kept,
                             const Tensor& dx) = 0;
  // y = condition is not 0 ? a : b, all repeated as in Binary. An empty a or b stands for zeros.
  virtual void Select(const Tensor& condition, const Tensor& a, const Tensor& b,
                      const Tensor& y) = 0;
  // y = factor * the sum of x over the axes where y's extent is 1 and x's is not. Ranks are equal.
  virtual void SumTo(const Tensor& x, double factor, const Tensor& y) = 0;
  // y [..., M, N] = op(a) op(b); leading extents are equal or 1 in a or b. With `transpose_a`, a is
  // [..., K, M], else [..., M, K]; with `transpose_b`, b is [..., N, K], else [..., K, N].
  virtual void BatchedProduct(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b,
                              const Tensor& y) = 0;

  // rows of `table` [V, D] by `ids` kI64 [...]: y [..., D]. Throws DataError on an id outside [0,
  // V).
  virtual void Gather(const Tensor& table, const Tensor& ids, const Tensor& y) = 0;
  // dtable [V, D] = the sums of dy's rows by id, in the order of the rows; zero elsewhere, or added
  // to what is there with `accumulate`. Rows of the id `padding` (-1 = none) are left out.
  virtual void ScatterAdd(const Tensor& dy, const Tensor& ids, const Tensor& dtable,
                          bool accumulate, std::int64_t padding) = 0;
};

// Images [N, H, W, C] to [N, factor H, factor W, C].
class ResampleKernels {
 public:
  virtual ~ResampleKernels() = default;

  virtual void NearestForward(std::int64_t factor, const Tensor& x, const Tensor& y) = 0;
  virtual void NearestBackward(std::int64_t factor, const Tensor& dy, const Tensor& dx) = 0;
  // Interpolates between pixel centres (align_corners = false), clamped at the edges.
  virtual void BilinearForward(std::int64_t factor, const Tensor& x, const Tensor& y) = 0;
  virtual void BilinearBackward(std::int64_t factor, const Tensor& dy, const Tensor& dx) = 0;
};

}  // namespace frugal
