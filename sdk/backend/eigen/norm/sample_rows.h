#pragma once

#include "sdk/backend/eigen/matmul/column_sums.h"
#include "sdk/tensor/tensor.h"

namespace frugal::eigen {

// x [N, ..., D] as N samples of T rows of D columns.
struct SampleRows {
  std::int64_t samples, rows, columns;
  explicit SampleRows(const Tensor& x)
      : samples(x.shape()[0]),
        rows(samples > 0 ? x.shape().RowCount() / samples : 0),
        columns(x.shape().back()) {}

  // body(first element of the row, first element of its sample's row in [N, D])
  template <class Body>
  void ForEachRow(const Body& body) const {
    ParallelFor(samples * rows, RowsPerChunk(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) body(row * columns, row / rows * columns);
    });
  }

  // Sums over the rows of each sample, in double precision: add(row, column, sums) adds to
  // kQuantities sums, store(sample, column, sums) takes them.
  template <std::size_t kQuantities, class Add, class Store>
  void SumRows(const Add& add, const Store& store) const {
    const std::int64_t chunk = std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, rows));
    ParallelFor(samples * columns, chunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t sample = i / columns;
        std::array<double, kQuantities> sums{};
        for (std::int64_t row = sample * rows; row < (sample + 1) * rows; ++row) {
          add(row, i % columns, sums);
        }
        store(sample, i % columns, sums);
      }
    });
  }
};

}  // namespace frugal::eigen
