#include "sdk/backend/onednn/weight_gradient.h"

#include <algorithm>

#include "sdk/backend/eigen/parallel.h"
#include "sdk/backend/onednn/simd/cpu_features.h"
#include "sdk/backend/onednn/simd/panel_product.h"

namespace frugal::onednn {
namespace {

using simd::kMatrixBlock;

constexpr std::int64_t kRows = 256;    // at a time: panels of 16 KB in the first cache
constexpr std::int64_t kRight = 1024;  // columns of the right factor: 512 KB in the second cache
constexpr std::int64_t kLeft = 2048;   // columns of the left factor in scratch

// A factor of the product, [rows, width], whose rows begin `stride` apart, and the sums of its
// columns, if those are wanted.
struct Factor {
  const BFloat16* data;
  std::int64_t width, stride;
  float* sums;
};

struct Range {
  std::int64_t begin, count;
};

// body(range) for consecutive pieces
template <class Body>
void ForRanges(std::int64_t count, std::int64_t piece, const Body& body) {
  for (std::int64_t begin = 0; begin < count; begin += piece) {
    body(Range{begin, std::min(piece, count - begin)});
  }
}

// body(range) in parallel for pieces of whole panels: 16 pieces or more, of up to 256 bytes of a
// row. Narrower ones come slower from memory.
template <class Body>
void ForPanels(const Range& columns, const Body& body) {
  constexpr std::int64_t kPieces = 16, kMostPanels = 4;
  const std::int64_t panels = simd::WholeBlocks(columns.count);
  const std::int64_t piece = std::clamp<std::int64_t>(panels / kPieces, 1, kMostPanels);
  eigen::ParallelFor(columns.count, piece * kMatrixBlock,
                     [&](std::int64_t begin, std::int64_t end) {
                       body(Range{columns.begin + begin, end - begin});
                     });
}

std::int64_t PackedSize(std::int64_t rows, std::int64_t columns) {
  return simd::WholeBlocks(columns) * simd::PanelSize(rows);
}

class Work {
 public:
  Work(std::int64_t rows, const Factor& left, const Factor& right, float* c, void* scratch)
      : rows_(rows),
        left_(left),
        right_(right),
        c_(c),
        right_panels_(static_cast<BFloat16*>(scratch)),
        left_panels_(right_panels_ + RightSize(rows, right.width)) {}

  static std::int64_t Bytes(std::int64_t rows, std::int64_t left, std::int64_t right) {
    const std::int64_t left_size = PackedSize(std::min(kRows, rows), std::min(kLeft, left));
    return (RightSize(rows, right) + left_size) * static_cast<std::int64_t>(sizeof(BFloat16));
  }

  void Run(bool accumulate) const {
    ForRanges(rows_, kRows, [&](const Range& rows) {
      ForRanges(right_.width, kRight, [&](const Range& right) {
        const Part part{rows, right, accumulate || rows.begin > 0};
        PackRight(part);
        ForRanges(left_.width, kLeft, [&](const Range& left) { Multiply(part, left); });
      });
    });
  }

 private:
  // Some rows of both factors and some columns of the right one.
  struct Part {
    Range rows, right;
    bool add;
  };

  static std::int64_t RightSize(std::int64_t rows, std::int64_t width) {
    return PackedSize(std::min(kRows, rows), std::min(kRight, width));
  }
  static simd::MatrixRows RowsOf(const Factor& from, const Range& rows, const Range& columns) {
    return {from.data + rows.begin * from.stride + columns.begin, from.stride, rows.count,
            columns.count};
  }

  void PackRight(const Part& part) const {
    ForPanels(part.right, [&](const Range& columns) {
      const simd::MatrixSession session;
      const std::int64_t rows = part.rows.count;
      BFloat16* const to = right_panels_ + PackedSize(rows, columns.begin - part.right.begin);
      simd::PackRightPanels(RowsOf(right_, part.rows, columns), to);
      if (right_.sums == nullptr) return;
      simd::SumRightPanels({to, rows, columns.count, right_.sums + columns.begin, part.add});
    });
  }

  void Multiply(const Part& part, const Range& left) const {
    // Panels that fill no more than the scratch are still there from the first part of the columns.
    const bool first = part.right.begin == 0, packed = !first && left_.width <= kLeft;
    ForPanels(left, [&](const Range& columns) {
      const simd::MatrixSession session;
      BFloat16* const panels =
          left_panels_ + PackedSize(part.rows.count, columns.begin - left.begin);
      if (!packed) simd::PackLeftPanels(RowsOf(left_, part.rows, columns), panels);
      if (first) SumLeft(part, columns, panels);
      if (c_ == nullptr) return;
      simd::MultiplyPanels({panels, right_panels_, part.rows.count,
                            c_ + columns.begin * right_.width + part.right.begin, right_.width,
                            columns.count, part.right.count, part.add});
    });
  }

  void SumLeft(const Part& part, const Range& columns, const BFloat16* panels) const {
    if (left_.sums == nullptr) return;
    simd::SumLeftPanels(
        {panels, part.rows.count, columns.count, left_.sums + columns.begin, part.add});
  }

  std::int64_t rows_;
  Factor left_, right_;
  float* c_;  // [left width, right width]
  BFloat16* right_panels_;
  BFloat16* left_panels_;
};

}  // namespace

std::int64_t WeightGradient::ScratchBytes() const {
  const std::int64_t rows = dy_.shape().RowCount();
  const std::int64_t outputs = dy_.shape().back(), inputs = x_.shape().back();
  return std::max(Work::Bytes(rows, outputs, inputs), Work::Bytes(rows, inputs, outputs));
}

void WeightGradient::Run(const LinearWeight& dweight, const Tensor& dbias, bool accumulate,
                         void* scratch) const {
  const std::int64_t stride = dy_.shape().back(), inputs = x_.shape().back();
  const std::int64_t outputs = dweight.tensor ? dweight.outputs() : stride;  // the rest is padding
  const Factor dy{dy_.data<BFloat16>(), outputs, stride, dbias ? dbias.data<float>() : nullptr};
  const Factor x{x_.data<BFloat16>(), inputs, inputs, nullptr};
  const bool out_in = dweight.layout == WeightLayout::kOutIn;
  float* const c = dweight.tensor ? dweight.tensor.data<float>() : nullptr;
  Work(dy_.shape().RowCount(), out_in ? dy : x, out_in ? x : dy, c, scratch).Run(accumulate);
}

}  // namespace frugal::onednn
