#pragma once

#include <cstdint>

// Rows with few or awkwardly many columns waste most of a vector register. Several short rows are
// one longer row whose per-column parameters repeat: these helpers choose such a width and repeat
// the parameters on the stack.
namespace frugal::simd {
namespace {

inline constexpr std::int64_t kMaxWidth = 512;

// Rows that are taken together: so many that the width is a multiple of 16 and at least 64, where
// that stays within kMaxWidth; 1 where rows are good as they are.
inline std::int64_t RowsTogether(std::int64_t columns) {
  std::int64_t rows = 1;
  while ((rows * columns) % 16 != 0) rows *= 2;
  while (rows * columns < 64) rows *= 2;
  return rows * columns <= kMaxWidth ? rows : 1;
}

inline void Repeat(const float* from, std::int64_t columns, std::int64_t times, float* to) {
  for (std::int64_t t = 0; t < times; ++t) {
    for (std::int64_t c = 0; c < columns; ++c) to[t * columns + c] = from[c];
  }
}

template <int kCount>
struct Parameters {
  const float* of[kCount];
};

// The parameters of `times` rows that are one, in `repeated`; null ones stay so.
template <int kCount>
Parameters<kCount> CastToF32(const Parameters<kCount>& parameters, std::int64_t columns,
                             std::int64_t times, float (*repeated)[kMaxWidth]) {
  Parameters<kCount> wide{};
  for (int i = 0; i < kCount; ++i) {
    if (parameters.of[i] == nullptr) continue;
    Repeat(parameters.of[i], columns, times, repeated[i]);
    wide.of[i] = repeated[i];
  }
  return wide;
}

// body(offset of the row, width, parameters) for each widened row of [rows, columns].
template <int kCount, class Body>
void ForRows(std::int64_t rows, std::int64_t columns, const Parameters<kCount>& parameters,
             const Body& body) {
  const std::int64_t together = RowsTogether(columns);
  const std::int64_t width = together * columns;
  float repeated[kCount][kMaxWidth] = {};
  const Parameters<kCount> wide =
      together > 1 ? CastToF32(parameters, columns, together, repeated) : parameters;
  std::int64_t r = 0;
  for (; r + together <= rows; r += together) body(r * columns, width, wide);
  if (r < rows) body(r * columns, (rows - r) * columns, wide);
}

// body(offset, widened rows, width, parameters, first sum, second sum) adds a block of rows to two
// sums per column, which are folded and written to `first` and `second`.
template <int kCount, class Body>
void ReduceRows(std::int64_t rows, std::int64_t columns, const Parameters<kCount>& parameters,
                float* first, float* second, const Body& body) {
  for (std::int64_t c = 0; c < columns; ++c) first[c] = second[c] = 0;
  const std::int64_t together = RowsTogether(columns);
  if (together == 1) {
    body(0, rows, columns, parameters, first, second);
    return;
  }
  const std::int64_t width = together * columns;
  float repeated[kCount][kMaxWidth] = {}, sums[2][kMaxWidth] = {};
  const Parameters<kCount> wide = CastToF32(parameters, columns, together, repeated);
  const std::int64_t whole = rows / together;
  body(0, whole, width, wide, sums[0], sums[1]);
  body(whole * width, rows - whole * together, columns, parameters, first, second);
  for (std::int64_t t = 0; t < together; ++t) {
    for (std::int64_t c = 0; c < columns; ++c) {
      first[c] += sums[0][t * columns + c];
      second[c] += sums[1][t * columns + c];
    }
  }
}

}  // namespace
}  // namespace frugal::simd
