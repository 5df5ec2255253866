#pragma once

#include "sdk/backend/common/parallel.h"

namespace frugal::eigen {

inline constexpr std::int64_t kColumnBlock = 128;
inline constexpr std::int64_t kMostRowPieces = 32;

// body(first, count) for blocks of at most kColumnBlock columns.
template <class Body>
void ForEachColumnBlock(std::int64_t columns, const Body& body) {
  for (std::int64_t first = 0; first < columns; first += kColumnBlock) {
    body(first, std::min(kColumnBlock, columns - first));
  }
}

// Sums down the columns of a matrix in double precision, kQuantities of them in one pass.
// add_row(row, first, count, sums) adds the terms of columns [first, first + count) of one row:
// quantity q of column first + j to sums[q * kColumnBlock + j].
// store(column, sums) takes the kQuantities results of a column.
// Rows are split into fixed pieces that are added in order; the memory for it is on the stack.
template <std::int64_t kQuantities, class AddRow, class Store>
void SumColumns(std::int64_t rows, std::int64_t columns, const AddRow& add_row,
                const Store& store) {
  constexpr auto kSums = static_cast<std::size_t>(kQuantities * kColumnBlock);
  using Sums = std::array<double, kSums>;
  ForEachColumnBlock(columns, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t pieces =
        std::clamp<std::int64_t>(rows * count / (kChunk / 2), 1, kMostRowPieces);
    const std::int64_t piece_rows = std::max<std::int64_t>(1, (rows + pieces - 1) / pieces);
    std::array<Sums, kMostRowPieces> partial;
    partial[0].fill(0);
    ParallelFor(rows, piece_rows, [&](std::int64_t begin, std::int64_t end) {
      Sums& sums = partial[static_cast<std::size_t>(begin / piece_rows)];
      sums.fill(0);
      for (std::int64_t row = begin; row < end; ++row) add_row(row, first, count, sums.data());
    });
    const std::int64_t used = (rows + piece_rows - 1) / piece_rows;
    for (std::int64_t j = 0; j < count; ++j) {
      std::array<double, static_cast<std::size_t>(kQuantities)> total{};
      for (std::int64_t piece = 0; piece < used; ++piece) {
        for (std::int64_t q = 0; q < kQuantities; ++q) {
          total[static_cast<std::size_t>(q)] +=
              partial[static_cast<std::size_t>(piece)]
                     [static_cast<std::size_t>(q * kColumnBlock + j)];
        }
      }
      store(first + j, total);
    }
  });
}

// destination[column] = or += sum of a row-major [rows, columns] matrix over its rows.
template <class T>
void SumRowsInto(const T* matrix, std::int64_t rows, std::int64_t columns, bool accumulate,
                 T* destination) {
  SumColumns<1>(
      rows, columns,
      [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
        const T* in = matrix + row * columns + first;
#pragma omp simd
        for (std::int64_t j = 0; j < count; ++j) sums[j] += static_cast<double>(in[j]);
      },
      [&](std::int64_t column, const std::array<double, 1>& sum) {
        destination[column] =
            static_cast<T>(sum[0] + (accumulate ? static_cast<double>(destination[column]) : 0.0));
      });
}

}  // namespace frugal::eigen
