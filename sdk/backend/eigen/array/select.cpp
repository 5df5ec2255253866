#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/backend/eigen/array/strided_loop.h"

namespace frugal {
namespace eigen {
namespace {

using SelectLoop = StridedLoop<4>;  // condition, a, b, y

SelectLoop Arrange(const Tensor& condition, const Tensor& a, const Tensor& b, const Tensor& y) {
  const auto steps_of = [](const Tensor& x) { return x ? RepeatingSteps(x.shape()) : Steps{}; };
  const Steps condition_steps = steps_of(condition);
  const Steps a_steps = steps_of(a);
  const Steps b_steps = steps_of(b);
  const Steps y_steps = steps_of(y);
  SelectLoop loop;
  for (std::size_t i = 0; i < y.shape().rank(); ++i) {
    loop.Add({y.shape()[i], {condition_steps[i], a_steps[i], b_steps[i], y_steps[i]}});
  }
  return loop;
}

template <class T>
void Choose(const Tensor& condition, const Tensor& a, const Tensor& b, const Tensor& y) {
  const T zero{0};
  const T* chooses = condition.data<T>();
  const T* left = a ? a.data<T>() : &zero;
  const T* right = b ? b.data<T>() : &zero;
  const SelectLoop loop = Arrange(condition, a, b, y);
  const auto step = loop.FromLast(0).step;
  loop.ForEachPiece(0, kChunk, [&](const auto& at, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      const bool is_left = chooses[at[0] + i * step[0]] != T{0};  // NaN is not 0
      y.data<T>()[at[3] + i] = is_left ? left[at[1] + i * step[1]] : right[at[2] + i * step[2]];
    }
  });
}

}  // namespace
}  // namespace eigen

void EigenArrayKernels::Select(const Tensor& condition, const Tensor& a, const Tensor& b,
                               const Tensor& y) {
  if (y.size() == 0) return;
  eigen::WithFloating("a choice of elements", y.dtype(),
                      [&]<class T>() { eigen::Choose<T>(condition, a, b, y); });
}

}  // namespace frugal
