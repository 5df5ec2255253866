#include "sdk/backend/eigen/conv/pool.h"

#include <limits>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/common/pool_window.h"

namespace frugal {
namespace eigen {
namespace {

// body(image, output position) for all output positions, in parallel.
template <class Body>
void ForEachOutput(const PoolGeometry& g, const Body& body) {
  const std::int64_t size = g.window.OutputSize();
  ParallelFor(g.window.batch * size, RowsPerChunk(g.channels), [&](auto begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) body(i / size, i % size);
  });
}

// body(image, first channel, channels): windows overlap, so a gradient is scattered by one thread
// per image and block of channels.
template <class Body>
void ForEachScatter(const PoolGeometry& g, const Body& body) {
  constexpr std::int64_t kChannelBlock = 64;
  const std::int64_t blocks = (g.channels + kChannelBlock - 1) / kChannelBlock;
  ParallelFor(g.window.batch * blocks, 1, [&](std::int64_t piece, std::int64_t) {
    const std::int64_t first = piece % blocks * kChannelBlock;
    body(piece / blocks, first, std::min(kChannelBlock, g.channels - first));
  });
}

template <class T>
T* At(const PoolGeometry& g, T* x, std::int64_t image) {
  return x + image * g.window.InputSize() * g.channels;
}

template <class T>
void ClearChannels(const PoolGeometry& g, T* image, std::int64_t first, std::int64_t count) {
  for (std::int64_t position = 0; position < g.window.InputSize(); ++position) {
    std::fill_n(image + position * g.channels + first, count, T{0});
  }
}

template <class T>
void TakeLarger(const T* x, std::int32_t position, std::int64_t channels, T* y,
                std::int32_t* index) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const bool larger = x[c] > y[c] || x[c] != x[c];
    y[c] = larger ? x[c] : y[c];
    index[c] = larger ? position : index[c];
  }
}

template <class T>
void Max(const PoolGeometry& g, const T* x, T* y, std::int32_t* index) {
  constexpr std::int64_t kBlock = 256;  // channels whose indices fit on the stack
  ForEachOutput(g, [&](std::int64_t image, std::int64_t output) {
    const PoolWindow window = WindowAt(g.window, SlidingRange, output);
    const std::int64_t row = (image * g.window.OutputSize() + output) * g.channels;
    for (std::int64_t first = 0; first < g.channels; first += kBlock) {
      const std::int64_t count = std::min(kBlock, g.channels - first);
      std::array<std::int32_t, kBlock> positions;
      T* out = y + row + first;
      std::fill_n(out, count, -std::numeric_limits<T>::infinity());
      std::int32_t start = -1;  // what stands where nothing is larger than minus infinity
      window.ForEach(g.window.input, [&](std::int64_t at) {
        const auto position = static_cast<std::int32_t>(at);
        if (start < 0) std::fill_n(positions.data(), count, start = position);
        TakeLarger(At(g, x, image) + at * g.channels + first, position, count, out,
                   positions.data());
      });
      if (start < 0) std::fill_n(positions.data(), count, start);
      if (index != nullptr) std::copy_n(positions.data(), count, index + row + first);
    }
  });
}

template <class T>
void MaxGradient(const PoolGeometry& g, const T* dy, const std::int32_t* index, T* dx) {
  ForEachScatter(g, [&](std::int64_t image, std::int64_t first, std::int64_t count) {
    T* image_dx = At(g, dx, image);
    ClearChannels(g, image_dx, first, count);
    for (std::int64_t output = 0; output < g.window.OutputSize(); ++output) {
      const std::int64_t row = (image * g.window.OutputSize() + output) * g.channels;
      for (std::int64_t c = first; c < first + count; ++c) {
        const std::int32_t position = index[row + c];
        if (position >= 0) image_dx[position * g.channels + c] += dy[row + c];
      }
    }
  });
}

// One over the number of inputs that a window averages.
template <class T>
T Share(const PoolGeometry& g, const PoolWindow& window, bool sliding) {
  const bool whole = sliding && g.count_padding;
  const std::int64_t count = whole ? g.window.KernelSize() : window.Count();
  return count == 0 ? T{0} : T{1} / static_cast<T>(count);
}

template <class T>
void Average(const PoolGeometry& g, RangeOf range, const T* x, T* y) {
  ForEachOutput(g, [&](std::int64_t image, std::int64_t output) {
    const PoolWindow window = WindowAt(g.window, range, output);
    T* out = y + (image * g.window.OutputSize() + output) * g.channels;
    std::fill_n(out, g.channels, T{0});
    window.ForEach(g.window.input, [&](std::int64_t at) {
      const T* in = At(g, x, image) + at * g.channels;
      for (std::int64_t c = 0; c < g.channels; ++c) out[c] += in[c];
    });
    const T share = Share<T>(g, window, range == SlidingRange);
    for (std::int64_t c = 0; c < g.channels; ++c) out[c] *= share;
  });
}

template <class T>
void AverageGradient(const PoolGeometry& g, RangeOf range, const T* dy, T* dx) {
  ForEachScatter(g, [&](std::int64_t image, std::int64_t first, std::int64_t count) {
    T* image_dx = At(g, dx, image);
    ClearChannels(g, image_dx, first, count);
    for (std::int64_t output = 0; output < g.window.OutputSize(); ++output) {
      const PoolWindow window = WindowAt(g.window, range, output);
      const T share = Share<T>(g, window, range == SlidingRange);
      const T* in = dy + (image * g.window.OutputSize() + output) * g.channels + first;
      window.ForEach(g.window.input, [&](std::int64_t at) {
        T* out = image_dx + at * g.channels + first;
        for (std::int64_t c = 0; c < count; ++c) out[c] += share * in[c];
      });
    }
  });
}

std::int32_t* Positions(const Tensor& index) { return static_cast<std::int32_t*>(index.raw()); }

}  // namespace
}  // namespace eigen

std::int64_t EigenPoolKernels::MaxIndexBytes(const PoolGeometry& g, DType /*dtype*/) const {
  return g.window.batch * g.window.OutputSize() * g.channels * SizeOf(DType::kI32);
}

std::int64_t EigenPoolKernels::Scratch(const PoolGeometry& /*g*/, DType /*dtype*/) const {
  return 0;
}

void EigenPoolKernels::MaxForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                                  const Tensor& index, void* /*scratch*/) {
  eigen::WithFloating("max pooling", x.dtype(), [&]<class T>() {
    eigen::Max<T>(g, x.data<T>(), y.data<T>(), eigen::Positions(index));
  });
}

void EigenPoolKernels::MaxBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& index,
                                   const Tensor& dx, void* /*scratch*/) {
  eigen::WithFloating("max pooling backward", dy.dtype(), [&]<class T>() {
    eigen::MaxGradient<T>(g, dy.data<T>(), eigen::Positions(index), dx.data<T>());
  });
}

void EigenPoolKernels::AverageForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                                      void* /*scratch*/) {
  eigen::WithFloating("average pooling", x.dtype(), [&]<class T>() {
    eigen::Average<T>(g, eigen::SlidingRange, x.data<T>(), y.data<T>());
  });
}

void EigenPoolKernels::AverageBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx,
                                       void* /*scratch*/) {
  eigen::WithFloating("average pooling backward", dy.dtype(), [&]<class T>() {
    eigen::AverageGradient<T>(g, eigen::SlidingRange, dy.data<T>(), dx.data<T>());
  });
}

void EigenPoolKernels::AdaptiveForward(const PoolGeometry& g, const Tensor& x, const Tensor& y) {
  eigen::WithFloating("adaptive pooling", x.dtype(), [&]<class T>() {
    eigen::Average<T>(g, eigen::AdaptiveRange, x.data<T>(), y.data<T>());
  });
}

void EigenPoolKernels::AdaptiveBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx) {
  eigen::WithFloating("adaptive pooling backward", dy.dtype(), [&]<class T>() {
    eigen::AverageGradient<T>(g, eigen::AdaptiveRange, dy.data<T>(), dx.data<T>());
  });
}

}  // namespace frugal
