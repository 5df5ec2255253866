#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/conv/resample.h"

namespace frugal {
namespace eigen {
namespace {

// The two input positions between whose centres that of an output position lies.
template <class T>
struct Neighbours {
  std::int64_t before;
  std::int64_t after;
  T weight_before;
  T weight_after;

  // Weight of input position `at`; at the edges both neighbours are one.
  T WeightOf(std::int64_t at) const {
    return (before == at ? weight_before : T{0}) + (after == at ? weight_after : T{0});
  }
};

// Position `at` of an axis enlarged from `extent` by `factor`: the source position is
// (at + 1/2) / factor - 1/2, clamped at 0 and at extent - 1.
template <class T>
Neighbours<T> NeighboursOf(std::int64_t at, std::int64_t factor, std::int64_t extent) {
  const double place =
      std::max((static_cast<double>(at) + 0.5) / static_cast<double>(factor) - 0.5, 0.0);
  const auto before = std::min(static_cast<std::int64_t>(place), extent - 1);
  const double part = place - static_cast<double>(before);
  return {before, std::min(before + 1, extent - 1), static_cast<T>(1 - part), static_cast<T>(part)};
}

struct Sizes {
  explicit Sizes(const Shape& small)
      : batch(small[0]), height(small[1]), width(small[2]), channels(small[3]) {}
  std::int64_t Row() const { return width * channels; }

  std::int64_t batch;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
};

// One row of y between two rows of x.
template <class T>
void MixRow(const T* above, const T* below, const Neighbours<T>& rows, const Sizes& s,
            std::int64_t factor, T* y) {
  for (std::int64_t w = 0; w < s.width * factor; ++w, y += s.channels) {
    const auto columns = NeighboursOf<T>(w, factor, s.width);
    const std::int64_t left = columns.before * s.channels;
    const std::int64_t right = columns.after * s.channels;
    for (std::int64_t c = 0; c < s.channels; ++c) {
      const T upper =
          columns.weight_before * above[left + c] + columns.weight_after * above[right + c];
      const T lower =
          columns.weight_before * below[left + c] + columns.weight_after * below[right + c];
      y[c] = rows.weight_before * upper + rows.weight_after * lower;
    }
  }
}

template <class T>
void Forward(std::int64_t factor, const Sizes& s, const T* x, T* y) {
  const std::int64_t out_height = s.height * factor;
  const std::int64_t out_row = s.Row() * factor;
  ParallelFor(s.batch * out_height, RowsPerChunk(out_row), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto rows = NeighboursOf<T>(row % out_height, factor, s.height);
      const T* image = x + row / out_height * s.height * s.Row();
      MixRow(image + rows.before * s.Row(), image + rows.after * s.Row(), rows, s, factor,
             y + row * out_row);
    }
  });
}

// dx row += weight * the transpose of the mixing along one row of dy.
template <class T>
void AddRow(const T* dy, T weight, const Sizes& s, std::int64_t factor, T* dx) {
  for (std::int64_t w = 0; w < s.width * factor; ++w, dy += s.channels) {
    const auto columns = NeighboursOf<T>(w, factor, s.width);
    const T left_weight = weight * columns.weight_before;
    const T right_weight = weight * columns.weight_after;
    T* left = dx + columns.before * s.channels;
    T* right = dx + columns.after * s.channels;
    for (std::int64_t c = 0; c < s.channels; ++c) left[c] += left_weight * dy[c];
    for (std::int64_t c = 0; c < s.channels; ++c) right[c] += right_weight * dy[c];
  }
}

template <class T>
void Backward(std::int64_t factor, const Sizes& s, const T* dy, T* dx) {
  const std::int64_t out_height = s.height * factor;
  const std::int64_t out_row = s.Row() * factor;
  ParallelFor(s.batch * s.height, RowsPerChunk(2 * factor * out_row), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t h = row % s.height;
      const T* image = dy + row / s.height * out_height * out_row;
      std::fill_n(dx + row * s.Row(), s.Row(), T{0});
      const std::int64_t last = std::min((h + 2) * factor, out_height);
      for (std::int64_t out = std::max<std::int64_t>((h - 1) * factor, 0); out < last; ++out) {
        const T weight = NeighboursOf<T>(out, factor, s.height).WeightOf(h);
        if (weight != T{0}) AddRow(image + out * out_row, weight, s, factor, dx + row * s.Row());
      }
    }
  });
}

}  // namespace
}  // namespace eigen

void EigenResampleKernels::BilinearForward(std::int64_t factor, const Tensor& x, const Tensor& y) {
  if (x.size() == 0) return;
  eigen::WithFloating("upsample bilinear", x.dtype(), [&]<class T>() {
    eigen::Forward<T>(factor, eigen::Sizes(x.shape()), x.data<T>(), y.data<T>());
  });
}

void EigenResampleKernels::BilinearBackward(std::int64_t factor, const Tensor& dy,
                                            const Tensor& dx) {
  if (dx.size() == 0) return;
  eigen::WithFloating("upsample bilinear backward", dy.dtype(), [&]<class T>() {
    eigen::Backward<T>(factor, eigen::Sizes(dx.shape()), dy.data<T>(), dx.data<T>());
  });
}

}  // namespace frugal
