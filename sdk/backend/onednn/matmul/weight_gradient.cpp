#include "sdk/backend/onednn/matmul/weight_gradient.h"

#include <algorithm>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/gemm/thread_partition.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"

namespace frugal::onednn {
namespace {

using simd::kAmxBlock;

constexpr std::int64_t kLeftColumns = 128;  // packed at a time: 256 bytes of a row

// How much is taken at a time, so that panels of the right factor stay in the second cache of a
// core, and one of the left in the first. Depends on the sizes alone, as the order of sums at the
// edge does.
struct Tiling {
  std::int64_t rows, right_columns;

  explicit Tiling(std::int64_t most_rows)
      : rows(std::min<std::int64_t>(512, most_rows)), right_columns(rows > 256 ? 768 : 1024) {}
};

// A factor of the product, [rows, width], whose rows begin `stride` apart, and the sums of its
// columns, if those are wanted.
struct Factor {
  const BFloat16* data;
  std::int64_t width, stride;
  float* sums;
};

// The left factor's columns are the rows of the product. A panel is packed in the time of three
// products with another.
ThreadPartition PiecesOf(std::int64_t left, std::int64_t right, const Tiling& tiling) {
  const std::int64_t part = tiling.right_columns / kAmxBlock;
  return {{left, kAmxBlock}, {right, kAmxBlock}, [part](std::int64_t down, std::int64_t across) {
            const std::int64_t parts = (across + part - 1) / part;
            return 3 * (down * parts + across) + down * across;
          }};
}

std::int64_t PackedSize(std::int64_t rows, std::int64_t columns) {
  return simd::WholeBlocks(columns) * simd::PanelSize(rows);
}

class Work {
 public:
  Work(std::int64_t rows, const Tiling& tiling, const Factor& left, const Factor& right, float* c)
      : rows_(rows),
        left_(left),
        right_(right),
        c_(c),
        tiling_(tiling),
        grid_(PiecesOf(left.width, right.width, tiling_)) {}

  std::int64_t ScratchBytes() const {
    return ThreadCount() * (RightSize() + LeftSize()) * static_cast<std::int64_t>(sizeof(BFloat16));
  }

  void Run(bool accumulate, void* scratch) const {
    auto* const panels = static_cast<BFloat16*>(scratch);
    eigen::ParallelFor(grid_.Pieces(), 1, [&](std::int64_t piece, std::int64_t) {
      const simd::AmxSession session;
      BFloat16* const own = panels + piece * (RightSize() + LeftSize());
      RunPiece(grid_.Rows(piece), grid_.Columns(piece), accumulate, own);
    });
  }

 private:
  // Some rows of both factors and some columns of the right one.
  struct Part {
    Range rows, right;
    bool add;
  };

  // These sizes hold for any grid: the run may have fewer columns than were planned for, and so
  // another grid.
  std::int64_t RightSize() const {
    return PackedSize(tiling_.rows, std::min(tiling_.right_columns, right_.width));
  }
  std::int64_t LeftSize() const { return PackedSize(tiling_.rows, kLeftColumns); }

  static simd::AmxRows RowsOf(const Factor& from, const Range& rows, const Range& columns) {
    return {from.data + rows.begin * from.stride + columns.begin, from.stride, rows.count,
            columns.count};
  }

  void RunPiece(const Range& left, const Range& right, bool accumulate, BFloat16* panels) const {
    BFloat16* const left_panels = panels + RightSize();
    ForRanges({0, rows_}, tiling_.rows, [&](const Range& rows) {
      ForRanges(right, tiling_.right_columns, [&](const Range& columns) {
        const Part part{rows, columns, accumulate || rows.begin > 0};
        PackRight(part, left.begin == 0, panels);
        ForRanges(left, kLeftColumns,
                  [&](const Range& some) { Multiply(part, some, panels, left_panels); });
      });
    });
  }

  void PackRight(const Part& part, bool sum, BFloat16* panels) const {
    simd::PackRightPanels(RowsOf(right_, part.rows, part.right), panels);
    if (!sum || right_.sums == nullptr) return;
    simd::SumRightPanels(
        {panels, part.rows.count, part.right.count, right_.sums + part.right.begin, part.add});
  }

  void Multiply(const Part& part, const Range& left, const BFloat16* right_panels,
                BFloat16* left_panels) const {
    simd::PackLeftPanels(RowsOf(left_, part.rows, left), left_panels);
    if (part.right.begin == 0 && left_.sums != nullptr) {
      simd::SumLeftPanels(
          {left_panels, part.rows.count, left.count, left_.sums + left.begin, part.add});
    }
    if (c_ == nullptr) return;
    simd::MultiplyPanels({.left = left_panels,
                          .right = right_panels,
                          .depth = part.rows.count,
                          .c = c_ + left.begin * right_.width + part.right.begin,
                          .c_row = right_.width,
                          .rows = left.count,
                          .columns = part.right.count,
                          .accumulate = part.add,
                          .right_passes = true});
  }

  std::int64_t rows_;
  Factor left_, right_;
  float* c_;  // [left width, right width]
  Tiling tiling_;
  ThreadPartition grid_;
};

}  // namespace

std::int64_t WeightGradient::ScratchBytes() const {
  const std::int64_t rows = dy_.shape().RowCount();
  const Tiling tiling(rows);
  const Factor dy{nullptr, dy_.shape().back(), 0, nullptr};
  const Factor x{nullptr, x_.shape().back(), 0, nullptr};
  return std::max(Work(rows, tiling, dy, x, nullptr).ScratchBytes(),
                  Work(rows, tiling, x, dy, nullptr).ScratchBytes());
}

void WeightGradient::Run(const LinearWeight& dweight, const Tensor& dbias, bool accumulate,
                         void* scratch) const {
  const std::int64_t stride = dy_.shape().back(), inputs = x_.shape().back();
  const std::int64_t outputs = dweight.tensor ? dweight.outputs() : stride;  // the rest is padding
  const Factor dy{dy_.data<BFloat16>(), outputs, stride, dbias ? dbias.data<float>() : nullptr};
  const Factor x{x_.data<BFloat16>(), inputs, inputs, nullptr};
  const bool out_in = dweight.layout == WeightLayout::kOutIn;
  float* const c = dweight.tensor ? dweight.tensor.data<float>() : nullptr;
  const std::int64_t rows = dy_.shape().RowCount();
  const Tiling tiling(rows);
  Work(rows, tiling, out_in ? dy : x, out_in ? x : dy, c).Run(accumulate, scratch);
}

}  // namespace frugal::onednn
