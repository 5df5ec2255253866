#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sdk/backend/onednn/operation/operation_key.h"
#include "sdk/backend/onednn/simd/winograd/winograd_loops.h"

namespace frugal::onednn {

// Floats behind the numbers of a place, so that places do not all lie in one set of the caches.
inline constexpr std::int64_t kWinogradGap = 16;

// Channels of the result that are worth a pass over the other side, and the next smaller number.
inline constexpr std::int64_t kLeastOutputs = 32;
inline std::int64_t HalfOf(std::int64_t outputs) { return (outputs / 2 + 15) / 16 * 16; }

// Tiles of 4 x 4 positions laid over the images of a convolution of 3 x 3 with a padding of 1,
// whose inputs and outputs have the same extents; the last may reach over an edge.
class WinogradTiles {
 public:
  explicit WinogradTiles(const WindowGeometry& w)
      : height_(w.output[1]),
        width_(w.output[2]),
        down_((height_ + simd::kTileOutputs - 1) / simd::kTileOutputs),
        across_((width_ + simd::kTileOutputs - 1) / simd::kTileOutputs),
        count_(w.batch * down_ * across_) {}

  std::int64_t count() const { return count_; }

  // Finds where the channels of a tile's pixels lie in a tensor [N, height, width, channels]; those
  // beyond the edges are at `outside`.
  template <class T>
  void FindInputs(T* tensor, std::int64_t channels, std::int64_t tile, T* outside,
                  std::array<T*, simd::kWinogradPoints>& pixels) const {
    Find<simd::kTileInputs>(tensor, channels, tile, 1, outside, pixels.data());
  }
  template <class T>
  void FindOutputs(T* tensor, std::int64_t channels, std::int64_t tile, T* outside,
                   std::array<T*, simd::kTilePixels>& pixels) const {
    Find<simd::kTileOutputs>(tensor, channels, tile, 0, outside, pixels.data());
  }

 private:
  template <std::int64_t kSide, class T>
  void Find(T* tensor, std::int64_t channels, std::int64_t tile, std::int64_t padding, T* outside,
            T** pixels) const {
    const std::int64_t image = tile / (down_ * across_), place = tile % (down_ * across_);
    const std::int64_t top = place / across_ * simd::kTileOutputs - padding;
    const std::int64_t left = place % across_ * simd::kTileOutputs - padding;
    for (std::int64_t i = 0; i < kSide * kSide; ++i) {
      const std::int64_t y = top + i / kSide, x = left + i % kSide;
      const bool inside = y >= 0 && y < height_ && x >= 0 && x < width_;
      pixels[i] = inside ? tensor + ((image * height_ + y) * width_ + x) * channels : outside;
    }
  }

  std::int64_t height_, width_, down_, across_, count_;
};

// Returns the bytes of inputs and outputs together.
inline std::int64_t ActivationBytes(const ConvGeometry& g) {
  const WindowGeometry& w = g.window;
  return 4 * w.batch * (w.InputSize() * g.input_channels + w.OutputSize() * g.output_channels);
}

// Dense windows of 3 x 3 over enough channels and tiles; tiles that reach far over the edges waste
// what they save.
inline bool SuitsWinograd(const ConvDescription& d, std::int64_t least_channels,
                          std::int64_t least_tiles) {
  const ConvGeometry& g = d.geometry;
  const WindowGeometry& w = g.window;
  constexpr Spatial kOnes{1, 1, 1}, kPadding{0, 1, 1};
  const bool fits = d.dtype == DType::kF32 && w.kernel == Spatial{1, 3, 3} && w.stride == kOnes &&
                    w.dilation == kOnes && w.padding_begin == kPadding &&
                    w.padding_end == kPadding && w.input[0] == 1 && w.output[0] == 1;
  if (!fits || g.groups != 1 || g.input_channels % 16 != 0 || g.output_channels % 16 != 0 ||
      std::min(g.input_channels, g.output_channels) < least_channels) {
    return false;
  }
  const std::int64_t tiles = WinogradTiles(w).count();
  return tiles >= least_tiles && 12 * tiles <= w.batch * w.OutputSize();
}

}  // namespace frugal::onednn
