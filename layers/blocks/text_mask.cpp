#include "layers/blocks/text_mask.h"

#include <algorithm>
#include <limits>

#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

template <class T>
void FillKeys(const Tensor& mask, std::int64_t leading, const Tensor& y) {
  const std::int64_t tokens = mask.shape()[1];
  const std::int64_t row = leading + tokens;
  for (std::int64_t n = 0; n < mask.shape()[0]; ++n) {
    const T* const from = mask.data<T>() + n * tokens;
    T* const to = y.data<T>() + n * row;
    std::fill_n(to, leading, T{0});
    std::transform(from, from + tokens, to + leading,
                   [](T value) { return value != 0 ? T{0} : -std::numeric_limits<T>::infinity(); });
  }
}

template <class T>
void FillMeans(const Tensor& mask, const Tensor& y) {
  const std::int64_t tokens = mask.shape()[1];
  for (std::int64_t n = 0; n < mask.shape()[0]; ++n) {
    const T* const from = mask.data<T>() + n * tokens;
    const auto seen = std::count_if(from, from + tokens, [](T value) { return value != 0; });
    const T weight = T{1} / static_cast<T>(std::max<std::int64_t>(seen, 1));
    std::transform(from, from + tokens, y.data<T>() + n * tokens,
                   [weight](T value) { return value != 0 ? weight : T{0}; });
  }
}

}  // namespace

Tensor KeyMask(Context& context, const Tensor& mask, std::int64_t leading) {
  const Shape shape = {mask.shape()[0], 1, 1, leading + mask.shape()[1]};
  const Tensor y = context.Allocate(shape, mask.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(mask, y)}, [&](Backend&, void*) {
    if (mask.dtype() == DType::kF64) return FillKeys<double>(mask, leading, y);
    FillKeys<float>(mask, leading, y);
  });
  return y;
}

Var MeanWeights(Context& context, const Tensor& mask) {
  const Tensor y = context.Allocate({mask.shape()[0], 1, mask.shape()[1]}, mask.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(mask, y)}, [&](Backend&, void*) {
    if (mask.dtype() == DType::kF64) return FillMeans<double>(mask, y);
    FillMeans<float>(mask, y);
  });
  return ToActivation(context, {y});
}

}  // namespace frugal
