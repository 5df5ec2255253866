#pragma once

#include "sdk/backend/onednn/simd/attention/tile_product.h"
#include "sdk/backend/onednn/simd/vector/vector.h"
#include "sdk/backend/onednn/simd/winograd/winograd_loops.h"

// The matrices of F(4 x 4, 3 x 3) for the points 0, 1, -1, 2, -2 and infinity, a line at a time.
namespace frugal::simd {
namespace {

// B^T d
inline void InputLine(const Vector (&d)[6], Vector (&t)[6]) {
  const Vector even = d[4] - 4.0f * d[2], odd = d[3] - 4.0f * d[1];
  const Vector wide = d[4] - d[2], twice = 2.0f * (d[3] - d[1]);
  t[0] = 4.0f * d[0] - 5.0f * d[2] + d[4];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = wide + twice;
  t[4] = wide - twice;
  t[5] = 4.0f * d[1] - 5.0f * d[3] + d[5];
}

// A y
inline void GradientLine(const Vector (&y)[4], Vector (&t)[6]) {
  const Vector even = y[0] + y[2], odd = y[1] + y[3];
  const Vector wide = y[0] + 4.0f * y[2], twice = 2.0f * y[1] + 8.0f * y[3];
  t[0] = y[0];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = wide + twice;
  t[4] = wide - twice;
  t[5] = y[3];
}

// A^T m
inline void OutputLine(const Vector (&m)[6], Vector (&y)[4]) {
  const Vector near = m[1] + m[2], across = m[1] - m[2];
  const Vector far = m[3] + m[4], far_across = m[3] - m[4];
  y[0] = m[0] + near + far;
  y[1] = across + 2.0f * far_across;
  y[2] = near + 4.0f * far;
  y[3] = across + 8.0f * far_across + m[5];
}

// G g
inline void FilterLine(const Vector (&g)[3], Vector (&u)[6]) {
  const Vector near = (-1.0f / 6) * (g[0] + g[2]), across = (-1.0f / 6) * g[1];
  const Vector far = (1.0f / 24) * g[0] + (1.0f / 6) * g[2], far_across = (1.0f / 12) * g[1];
  u[0] = 0.25f * g[0];
  u[1] = near + across;
  u[2] = near - across;
  u[3] = far + far_across;
  u[4] = far - far_across;
  u[5] = g[2];
}

// G^T u
inline void WeightGradientLine(const Vector (&u)[6], Vector (&g)[3]) {
  const Vector near = (-1.0f / 6) * (u[1] + u[2]), far = u[3] + u[4];
  g[0] = 0.25f * u[0] + near + (1.0f / 24) * far;
  g[1] = (1.0f / 6) * (u[2] - u[1]) + (1.0f / 12) * (u[3] - u[4]);
  g[2] = near + (1.0f / 6) * far + u[5];
}

// Both axes of a square: result[kTo][kTo] of square[kFrom][kFrom].
template <auto kLine, int kFrom, int kTo>
void BothAxes(const Vector (&square)[kFrom][kFrom], Vector (&result)[kTo][kTo]) {
  Vector half[kTo][kFrom];
  for (int column = 0; column < kFrom; ++column) {
    Vector from[kFrom], to[kTo];
    for (int i = 0; i < kFrom; ++i) from[i] = square[i][column];
    kLine(from, to);
    for (int i = 0; i < kTo; ++i) half[i][column] = to[i];
  }
  for (int row = 0; row < kTo; ++row) kLine(half[row], result[row]);
}

// body(channel, where that vector of row `row` lies at the first place) for all channels
template <class Body>
void ForVectors(const Panels& panels, std::int64_t row, const Body& body) {
  for (std::int64_t first = 0; first < panels.channels; first += panels.width) {
    const std::int64_t width = panels.WidthAt(first);
    float* const at = panels.Panel(0, first) + row * width;
    for (std::int64_t c = 0; c < width; c += kLanes) body(first + c, at + c);
  }
}

template <auto kLine, int kSide, int kTo>
void TransformPixels(const float* const* pixels, std::int64_t row, const Panels& to) {
  ForVectors(to, row, [&](std::int64_t channel, float* at) {
    Vector square[kSide][kSide], result[kTo][kTo];
    for (int i = 0; i < kSide * kSide; ++i)
      square[i / kSide][i % kSide] = Load(pixels[i] + channel);
    BothAxes<kLine>(square, result);
    for (int p = 0; p < kTo * kTo; ++p) Store(at + p * to.place, result[p / kTo][p % kTo]);
  });
}

inline void TransformInputs(const float* const* pixels, std::int64_t row, const Panels& to) {
  TransformPixels<InputLine, 6, 6>(pixels, row, to);
}

inline void TransformGradients(const float* const* pixels, std::int64_t row, const Panels& to) {
  TransformPixels<GradientLine, 4, 6>(pixels, row, to);
}

inline void LoadPlaces(const float* at, std::int64_t place, Vector (&square)[6][6]) {
  for (int p = 0; p < kWinogradPoints; ++p) square[p / 6][p % 6] = Load(at + p * place);
}

inline void TransformOutputs(const Panels& from, std::int64_t row, const float* bias, bool relu,
                             float* const* pixels) {
  ForVectors(from, row, [&](std::int64_t channel, const float* at) {
    Vector square[6][6], result[4][4];
    LoadPlaces(at, from.place, square);
    BothAxes<OutputLine>(square, result);
    const Vector added = bias == nullptr ? Vector{} : Load(bias + channel);
    for (int i = 0; i < kTilePixels; ++i) {
      const Vector y = result[i / 4][i % 4] + added;
      Store(pixels[i] + channel, relu ? Largest(Vector{}, y) : y);  // not a number stays so
    }
  });
}

inline void TransformFilters(const FilterLanes& from, bool transposed, std::int64_t row,
                             const Panels& to) {
  ForVectors(to, row, [&](std::int64_t channel, float* at) {
    alignas(64) float lanes[9][kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const float* const filter = from.first + (channel + lane) * from.step;
      for (int i = 0; i < 9; ++i) lanes[i][lane] = filter[transposed ? 8 - i : i];
    }
    Vector square[3][3], result[6][6];
    for (int i = 0; i < 9; ++i) square[i / 3][i % 3] = Load(lanes[i]);
    BothAxes<FilterLine>(square, result);
    for (int p = 0; p < kWinogradPoints; ++p) Store(at + p * to.place, result[p / 6][p % 6]);
  });
}

inline void TransformFilterGradients(const Panels& from, std::int64_t row, bool accumulate,
                                     const FilterLanes& to) {
  ForVectors(from, row, [&](std::int64_t channel, const float* at) {
    Vector square[6][6], result[3][3];
    LoadPlaces(at, from.place, square);
    BothAxes<WeightGradientLine>(square, result);
    alignas(64) float lanes[9][kLanes];
    for (int i = 0; i < 9; ++i) Store(lanes[i], result[i / 3][i % 3]);
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      float* const filter = to.first + (channel + lane) * to.step;
      for (int i = 0; i < 9; ++i)
        filter[i] = accumulate ? filter[i] + lanes[i][lane] : lanes[i][lane];
    }
  });
}

inline constexpr WinogradLoops kWinogradLoops{
    kBlockVectors * kLanes, TransformInputs,          TransformGradients, TransformOutputs,
    TransformFilters,       TransformFilterGradients, MultiplyTiles};

}  // namespace
}  // namespace frugal::simd
