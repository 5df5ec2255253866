#pragma once

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/operation/partial_rows.h"
#include "sdk/memory/allocator.h"
#include "sdk/tensor/tensor.h"

namespace frugal::onednn {

// x [N, ..., D] seen as N samples of T rows, each sample cut into fixed parts for sums over its
// rows, and the tables in scratch that modulation works with. The cut depends on the shape alone:
// there are at most kMostParts of all samples together, if these are fewer.
class SampleChunks {
 public:
  explicit SampleChunks(const Tensor& x)
      : samples_(x.shape()[0]),
        rows_(x.shape().RowCount() / samples_),
        columns_(x.shape().back()),
        part_rows_(PartRows(rows_, columns_, std::max<std::int64_t>(1, kMostParts / samples_))),
        parts_((rows_ + part_rows_ - 1) / part_rows_) {}

  std::int64_t samples() const { return samples_; }
  std::int64_t columns() const { return columns_; }

  // A part lies at `row`, which counts from the first sample on.
  struct Part {
    std::int64_t number, sample, row, rows;
  };
  // body(part), in parallel
  template <class Body>
  void ForEach(const Body& body) const {
    const std::int64_t chunk = eigen::RowsPerChunk(part_rows_ * columns_);
    eigen::ParallelFor(samples_ * parts_, chunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % parts_ * part_rows_;
        body(Part{i, i / parts_, i / parts_ * rows_ + first, std::min(part_rows_, rows_ - first)});
      }
    });
  }

  // body(first column, last column + 1), in parallel
  template <class Body>
  void ForColumns(const Body& body) const {
    eigen::ParallelFor(columns_, eigen::RowsPerChunk(samples_ * parts_), body);
  }

  // Rows of D floats in scratch: constants, two for each sample, two for each part.
  struct Tables {
    float *zeros, *ones, *factors, *offsets, *sums, *products;
  };
  std::int64_t ScratchBytes() const {
    return 4 * (2 * Stride(1) + 2 * Stride(samples_) + 2 * Stride(samples_ * parts_));
  }
  Tables In(void* scratch) const {
    auto* const zeros = static_cast<float*>(scratch);
    std::fill_n(zeros, columns_, 0.0F);
    std::fill_n(zeros + Stride(1), columns_, 1.0F);
    float* const factors = zeros + 2 * Stride(1);
    float* const sums = factors + 2 * Stride(samples_);
    return {zeros,   zeros + Stride(1),
            factors, factors + Stride(samples_),
            sums,    sums + Stride(samples_ * parts_)};
  }

  // The sum of a sample's parts of column c.
  double AddUp(const float* table, std::int64_t sample, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t part = sample * parts_; part < (sample + 1) * parts_; ++part) {
      sum += static_cast<double>(table[part * columns_ + column]);
    }
    return sum;
  }

 private:
  std::int64_t Stride(std::int64_t rows) const {
    return RoundUpToAlignment(rows * columns_ * 4) / 4;
  }

  std::int64_t samples_, rows_, columns_, part_rows_, parts_;
};

}  // namespace frugal::onednn
