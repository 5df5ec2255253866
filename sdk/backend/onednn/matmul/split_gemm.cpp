#include "sdk/backend/onednn/matmul/split_gemm.h"

#include <algorithm>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/gemm/thread_partition.h"
#include "sdk/backend/onednn/simd/amx/split_panels.h"

namespace frugal::onednn {
namespace {

using simd::kAmxBlock;

constexpr std::int64_t kLeftColumns = 128;  // rows of c that are packed at a time
// Panels of so much depth and so many columns of c, three times over, are 1 MB of the second cache.
constexpr std::int64_t kMostDepth = 160, kRightColumns = 1024;

std::int64_t PackedSize(std::int64_t depth, std::int64_t width) {
  return simd::WholeBlocks(width) * kAmxBlock * simd::SplitDepth(depth);
}

class Work {
 public:
  explicit Work(const SplitGemm& p)
      : p_(p),
        depth_(DepthAtATime(p.depth)),
        grid_({p.rows, kAmxBlock}, {p.columns, kAmxBlock},
              [](std::int64_t down, std::int64_t across) {
                constexpr std::int64_t kPart = kRightColumns / kAmxBlock;
                const std::int64_t parts = (across + kPart - 1) / kPart;
                return 3 * (down * parts + across) + down * across;
              }) {}

  std::int64_t ScratchBytes() const {
    return ThreadCount() * (RightSize() + LeftSize()) * static_cast<std::int64_t>(sizeof(BFloat16));
  }

  void Run(void* scratch) const {
    auto* const panels = static_cast<BFloat16*>(scratch);
    eigen::ParallelFor(grid_.Pieces(), 1, [&](std::int64_t piece, std::int64_t) {
      RunPiece(grid_.Rows(piece), grid_.Columns(piece),
               panels + piece * (RightSize() + LeftSize()));
    });
  }

 private:
  // Equal parts of the depth, in whole blocks.
  static std::int64_t DepthAtATime(std::int64_t depth) {
    const std::int64_t parts = (depth + kMostDepth - 1) / kMostDepth;
    return simd::Whole((depth + parts - 1) / parts);
  }

  // These hold for any grid.
  std::int64_t RightSize() const { return PackedSize(depth_, std::min(kRightColumns, p_.columns)); }
  std::int64_t LeftSize() const { return PackedSize(depth_, std::min(kLeftColumns, p_.rows)); }

  static simd::SplitRows PartOf(const SplitFactor& factor, const Range& depth, const Range& width) {
    const std::int64_t at = factor.depth_in_rows ? depth.begin * factor.row + width.begin
                                                 : width.begin * factor.row + depth.begin;
    return {factor.data + at, factor.row, depth.count, width.count, factor.depth_in_rows};
  }

  bool HasAddends() const { return p_.bias != nullptr || p_.residual != nullptr; }

  void RunPiece(const Range& rows, const Range& columns, BFloat16* panels) const {
    BFloat16* const left_panels = panels + RightSize();
    if (HasAddends()) SetAddends(rows, columns);
    {
      const simd::AmxSession session;
      ForRanges({0, p_.depth}, depth_, [&](const Range& depth) {
        ForRanges(columns, kRightColumns, [&](const Range& right) {
          simd::PackSplitRightPanels(PartOf(p_.right, depth, right), panels);
          ForRanges(rows, kLeftColumns, [&](const Range& left) {
            simd::PackSplitLeftPanels(PartOf(p_.left, depth, left), left_panels);
            simd::MultiplyPanels({.left = left_panels,
                                  .right = panels,
                                  .depth = simd::SplitDepth(depth.count),
                                  .c = p_.c + left.begin * p_.columns + right.begin,
                                  .c_row = p_.columns,
                                  .rows = left.count,
                                  .columns = right.count,
                                  .accumulate = p_.accumulate || HasAddends() || depth.begin > 0,
                                  .right_passes = true});
          });
        });
      });
    }
    if (p_.relu) Cut(rows, columns);
  }

  void SetAddends(const Range& rows, const Range& columns) const {
    for (std::int64_t r = rows.begin; r < rows.begin + rows.count; ++r) {
      float* const c = p_.c + r * p_.columns;
      const float* const residual = p_.residual == nullptr ? nullptr : p_.residual + r * p_.columns;
      for (std::int64_t i = columns.begin; i < columns.begin + columns.count; ++i) {
        c[i] =
            (p_.bias == nullptr ? 0.0f : p_.bias[i]) + (residual == nullptr ? 0.0f : residual[i]);
      }
    }
  }

  // Not a number stays so.
  void Cut(const Range& rows, const Range& columns) const {
    for (std::int64_t r = rows.begin; r < rows.begin + rows.count; ++r) {
      float* const c = p_.c + r * p_.columns + columns.begin;
      for (std::int64_t i = 0; i < columns.count; ++i) c[i] = c[i] < 0.0f ? 0.0f : c[i];
    }
  }

  const SplitGemm& p_;
  std::int64_t depth_;  // at a time
  ThreadPartition grid_;
};

}  // namespace

std::int64_t SplitGemm::ScratchBytes() const { return Work(*this).ScratchBytes(); }

void SplitGemm::Run(void* scratch) const { Work(*this).Run(scratch); }

}  // namespace frugal::onednn
