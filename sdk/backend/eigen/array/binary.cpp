#include <functional>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/backend/eigen/array/strided_loop.h"

namespace frugal {
namespace eigen {
namespace {

using BinaryLoop = StridedLoop<3>;  // a, b, y

BinaryLoop Arrange(const Shape& a, const Shape& b, const Shape& y) {
  const Steps a_steps = RepeatingSteps(a);
  const Steps b_steps = RepeatingSteps(b);
  const Steps y_steps = RepeatingSteps(y);
  BinaryLoop loop;
  for (std::size_t i = 0; i < y.rank(); ++i) {
    loop.Add({y[i], {a_steps[i], b_steps[i], y_steps[i]}});
  }
  return loop;
}

// Along a run an operand either goes on (step 1) or repeats one element (step 0). The pragma: y
// may be a or b, and overlaps them in no other way.
template <class Operator, class T>
void Run(const Operator& op, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T* y,
         std::int64_t count) {
  if (a_step == 1 && b_step == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = op(a[i], b[i]);
  } else if (a_step == 1) {
    const T repeated = *b;
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = op(a[i], repeated);
  } else {
    const T repeated = *a;
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = op(repeated, b[i * b_step]);
  }
}

template <class T, class Operator>
void Compute(const Operator& op, const Tensor& a, const Tensor& b, const Tensor& y) {
  const BinaryLoop loop = Arrange(a.shape(), b.shape(), y.shape());
  const auto step = loop.FromLast(0).step;
  loop.ForEachPiece(0, kChunk, [&](const auto& at, std::int64_t first, std::int64_t count) {
    Run(op, a.data<T>() + at[0] + first * step[0], step[0], b.data<T>() + at[1] + first * step[1],
        step[1], y.data<T>() + at[2] + first, count);
  });
}

}  // namespace
}  // namespace eigen

void EigenArrayKernels::Binary(BinaryKind kind, const Tensor& a, const Tensor& b, const Tensor& y) {
  if (y.size() == 0) return;
  eigen::WithFloating("elementwise arithmetic", y.dtype(), [&]<class T>() {
    switch (kind) {
      case BinaryKind::kAdd:
        return eigen::Compute<T>(std::plus<T>(), a, b, y);
      case BinaryKind::kSubtract:
        return eigen::Compute<T>(std::minus<T>(), a, b, y);
      case BinaryKind::kMultiply:
        return eigen::Compute<T>(std::multiplies<T>(), a, b, y);
      case BinaryKind::kDivide:
        return eigen::Compute<T>(std::divides<T>(), a, b, y);
      case BinaryKind::kGreater:
        return eigen::Compute<T>([](T x, T z) { return x > z ? T{1} : T{0}; }, a, b, y);
    }
  });
}

}  // namespace frugal
