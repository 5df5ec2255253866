#include <array>

#include "sdk/backend/common/activation_range.h"
#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace eigen {
namespace {

inline constexpr std::int64_t kBlock = 256;  // elements whose intermediate values stay in the cache
template <class T>
using Block = std::array<T, static_cast<std::size_t>(kBlock)>;

// body(row, first, count) in parallel for blocks of the rows of a matrix [rows, width].
template <class Body>
void ForEachBlock(std::int64_t rows, std::int64_t width, const Body& body) {
  ParallelFor(rows, RowsPerChunk(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t first = 0; first < width; first += kBlock) {
        body(row, first, std::min(kBlock, width - first));
      }
    }
  });
}

template <class T>
void GatedBlock(Activation f, const T* gate, const T* value, T* y, std::int64_t count) {
  Block<T> activated;
  ActivateRange(f, DefaultParameter(f), gate, activated.data(), count);
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = activated[static_cast<std::size_t>(i)] * value[i];
  }
}

// dgate may be gate and dvalue may be value.
template <class T>
void GatedGradientBlock(Activation f, const T* dy, const T* gate, const T* value, T* dgate,
                        T* dvalue, std::int64_t count) {
  const double parameter = DefaultParameter(f);
  Block<T> activated;
  Block<T> upstream;
  ActivateRange(f, parameter, gate, activated.data(), count);
  for (std::int64_t i = 0; i < count; ++i) upstream[static_cast<std::size_t>(i)] = dy[i] * value[i];
  const T* kept = DerivesFromOutput(f) ? activated.data() : gate;
  ActivateGradientRange<T>(f, parameter, upstream.data(), kept, upstream.data(), count);
  std::copy_n(upstream.data(), count, dgate);
  for (std::int64_t i = 0; i < count; ++i) {
    dvalue[i] = dy[i] * activated[static_cast<std::size_t>(i)];
  }
}

}  // namespace
}  // namespace eigen

void EigenSequenceKernels::GatedForward(Activation f, bool gate_last, const Tensor& x,
                                        const Tensor& y) {
  const std::int64_t width = y.shape().back();
  const std::int64_t gate = gate_last ? width : 0;
  const std::int64_t value = width - gate;
  eigen::WithFloating("gated unit", x.dtype(), [&]<class T>() {
    eigen::ForEachBlock(y.shape().RowCount(), width, [&](auto row, auto first, auto count) {
      const T* in = x.data<T>() + 2 * row * width + first;
      eigen::GatedBlock(f, in + gate, in + value, y.data<T>() + row * width + first, count);
    });
  });
}

void EigenSequenceKernels::GatedBackward(Activation f, bool gate_last, const Tensor& dy,
                                         const Tensor& x, const Tensor& dx) {
  const std::int64_t width = dy.shape().back();
  const std::int64_t gate = gate_last ? width : 0;
  const std::int64_t value = width - gate;
  eigen::WithFloating("gated unit backward", x.dtype(), [&]<class T>() {
    eigen::ForEachBlock(dy.shape().RowCount(), width, [&](auto row, auto first, auto count) {
      const T* in = x.data<T>() + 2 * row * width + first;
      T* out = dx.data<T>() + 2 * row * width + first;
      eigen::GatedGradientBlock<T>(f, dy.data<T>() + row * width + first, in + gate, in + value,
                                   out + gate, out + value, count);
    });
  });
}

}  // namespace frugal
