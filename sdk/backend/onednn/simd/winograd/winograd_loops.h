#pragma once

#include <cstdint>

#include "sdk/backend/onednn/simd/attention/attention_loops.h"

// Single-threaded loops of Winograd's method with outputs of 4 x 4 and filters of 3 x 3 (Lavin &
// Gray, arXiv:1509.09308), compiled once per instruction set as those of loops.h. A tile of 6 x 6
// inputs becomes as many numbers, one for each place; at each place channels meet in a product.
namespace frugal::simd {

inline constexpr std::int64_t kTileInputs = 6;   // along an axis
inline constexpr std::int64_t kTileOutputs = 4;  // along an axis
inline constexpr std::int64_t kWinogradPoints = kTileInputs * kTileInputs;
inline constexpr std::int64_t kTilePixels = kTileOutputs * kTileOutputs;

// Rows of `channels` numbers at each place, in panels of `width` channels, the last may be
// narrower: channel c of row r at place p is
//   data[p * place + (c / width) * width * rows + r * (width of that panel) + c % width].
struct Panels {
  float* data = nullptr;
  std::int64_t rows = 0, channels = 0, width = 0, place = 0;

  std::int64_t WidthAt(std::int64_t first) const {
    return channels - first < width ? channels - first : width;
  }
  float* Panel(std::int64_t at, std::int64_t first) const {
    return data + at * place + first * rows;
  }
};

// A filter's 9 numbers are side by side; those of the next lane lie `step` further on.
struct FilterLanes {
  float* first;
  std::int64_t step;
};

struct WinogradLoops {
  std::int64_t panel;  // columns that `product` takes best
  // Row `row` of `to` from the pixels of a tile, kWinogradPoints of them, row by row of the tile.
  void (*transform_inputs)(const float* const* pixels, std::int64_t row, const Panels& to);
  // Writes row `row` of `to` from kTilePixels gradients of outputs: what is multiplied with the
  // transformed inputs for the filters' gradients.
  void (*transform_gradients)(const float* const* pixels, std::int64_t row, const Panels& to);
  // The tile's outputs from row `row`, plus bias (or null), then max(., 0) where `relu`.
  void (*transform_outputs)(const Panels& from, std::int64_t row, const float* bias, bool relu,
                            float* const* pixels);
  // Row `row` of `to` from filters, one for each channel, transposed by 180 degrees where
  // `transposed`.
  void (*transform_filters)(const FilterLanes& from, bool transposed, std::int64_t row,
                            const Panels& to);
  // Filters' gradients from what row `row` has added up; written or added.
  void (*transform_filter_gradients)(const Panels& from, std::int64_t row, bool accumulate,
                                     const FilterLanes& to);
  void (*product)(const TileProduct& product);
};

const WinogradLoops& BaselineWinogradLoops();
const WinogradLoops& Avx2WinogradLoops();
const WinogradLoops& Avx512WinogradLoops();
const WinogradLoops& SelectWinogradLoops();  // the best of them for this processor

}  // namespace frugal::simd
