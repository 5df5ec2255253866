#include <algorithm>
#include <array>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/common/pool_window.h"
#include "sdk/backend/onednn/conv/pool.h"

namespace frugal {
namespace {

using eigen::SlidingRange;

constexpr std::int64_t kMostPositions = 255;

bool IsOurs(const PoolGeometry& g, DType dtype) {
  const WindowGeometry& w = g.window;
  const bool empty = w.batch * w.InputSize() * w.OutputSize() * g.channels == 0;
  return dtype == DType::kF32 && !empty && w.KernelSize() <= kMostPositions;
}

// These are the offsets of one window's positions in their image, in elements.
struct Positions {
  std::array<std::int64_t, static_cast<std::size_t>(kMostPositions)> offsets;
  std::int64_t count = 0;
};

// body(output position in its image, positions) for one row of outputs.
template <class Body>
void ForRow(const PoolGeometry& g, std::int64_t row, const Body& body) {
  const WindowGeometry& w = g.window;
  eigen::PoolWindow window;
  window.axes[0] = SlidingRange(w, 0, row / w.output[1]);
  window.axes[1] = SlidingRange(w, 1, row % w.output[1]);
  for (std::int64_t column = 0; column < w.output[2]; ++column) {
    window.axes[2] = SlidingRange(w, 2, column);
    Positions positions;
    window.ForEach(w.input, [&](std::int64_t at) {
      positions.offsets[static_cast<std::size_t>(positions.count++)] = at * g.channels;
    });
    body(row * w.output[2] + column, positions);
  }
}

}  // namespace

std::int64_t OneDnnPoolKernels::MaxIndexBytes(const PoolGeometry& g, DType dtype) const {
  if (!IsOurs(g, dtype)) return EigenPoolKernels::MaxIndexBytes(g, dtype);
  return g.window.batch * g.window.OutputSize() * g.channels;
}

void OneDnnPoolKernels::MaxForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                                   const Tensor& index, void* scratch) {
  if (!IsOurs(g, x.dtype())) {
    EigenPoolKernels::MaxForward(g, x, y, index, scratch);
    return;
  }
  const WindowGeometry& w = g.window;
  const std::int64_t rows = w.output[0] * w.output[1];
  auto* const numbers = static_cast<std::uint8_t*>(index.raw());
  const std::int64_t piece = eigen::RowsPerChunk(w.output[2] * g.channels);
  eigen::ParallelFor(w.batch * rows, piece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t image = row / rows;
      const float* from = x.data<float>() + image * w.InputSize() * g.channels;
      ForRow(g, row % rows, [&](std::int64_t output, const Positions& positions) {
        const std::int64_t at = (image * w.OutputSize() + output) * g.channels;
        loops_.largest(from, positions.offsets.data(), positions.count, g.channels,
                       y.data<float>() + at, numbers != nullptr ? numbers + at : nullptr);
      });
    }
  });
}

// Windows may overlap, so that one thread writes all of an image.
void OneDnnPoolKernels::MaxBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& index,
                                    const Tensor& dx, void* scratch) {
  if (!IsOurs(g, dy.dtype())) {
    EigenPoolKernels::MaxBackward(g, dy, index, dx, scratch);
    return;
  }
  const WindowGeometry& w = g.window;
  const auto* const numbers = static_cast<const std::uint8_t*>(index.raw());
  eigen::ParallelFor(w.batch, 1, [&](std::int64_t image, std::int64_t) {
    const std::int64_t size = w.InputSize() * g.channels;
    float* const to = dx.data<float>() + image * size;
    std::fill_n(to, size, 0.0f);
    for (std::int64_t row = 0; row < w.output[0] * w.output[1]; ++row) {
      ForRow(g, row, [&](std::int64_t output, const Positions& positions) {
        const std::int64_t at = (image * w.OutputSize() + output) * g.channels;
        loops_.largest_gradient(dy.data<float>() + at, numbers + at, positions.offsets.data(),
                                positions.count, g.channels, to);
      });
    }
  });
}

}  // namespace frugal
