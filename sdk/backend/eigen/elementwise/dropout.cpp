#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/elementwise/elementwise.h"
#include "sdk/core/random.h"

namespace frugal {
namespace eigen {
namespace {

// Returns the least value of the 24 upper bits of a kept element's word: UniformFromWord(word) >=
// rate in whole numbers, exactly, since 2^24 rate is exact.
std::uint32_t KeepThreshold(double rate) {
  return static_cast<std::uint32_t>(std::ceil(std::clamp(rate, 0.0, 1.0) * 16777216.0));
}

// Elements [begin, end) of the stream; begin is a multiple of 4, the elements of a random block.
template <class T>
void DropRange(const T* x, std::uint32_t threshold, T scale, std::uint64_t key, T* y,
               std::int64_t begin, std::int64_t end) {
  for (std::int64_t first = begin; first < end; first += 4) {
    const auto words = RandomWords(key, static_cast<std::uint64_t>(first) / 4);
    const std::int64_t count = std::min<std::int64_t>(4, end - first);
    for (std::int64_t j = 0; j < count; ++j) {
      const bool keep = words[static_cast<std::size_t>(j)] >> 8 >= threshold;
      y[first + j] = keep ? x[first + j] * scale : T{0};
    }
  }
}

}  // namespace
}  // namespace eigen

void EigenElementwiseKernels::Dropout(const Tensor& x, double rate, std::uint64_t key,
                                      const Tensor& y) {
  if (rate <= 0) return Copy(x, y);
  const std::uint32_t threshold = eigen::KeepThreshold(rate);
  eigen::WithFloating("dropout", x.dtype(), [&]<class T>() {
    const auto scale = static_cast<T>(rate < 1 ? 1 / (1 - rate) : 0);
    eigen::ParallelFor(x.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::DropRange(x.data<T>(), threshold, scale, key, y.data<T>(), begin, end);
    });
  });
}

}  // namespace frugal
