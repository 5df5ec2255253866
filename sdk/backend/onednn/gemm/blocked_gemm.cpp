#include "sdk/backend/onednn/gemm/blocked_gemm.h"

#include <algorithm>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/simd/gemm/gemm_avx2.h"
#include "sdk/memory/allocator.h"

namespace frugal::onednn {
namespace {

using simd::avx2::Factor;
using simd::avx2::kPanelColumns;
using simd::avx2::kPanelRows;

// The most of a block: a panel of the right factor is half of a first cache of 32 KB, the left
// factor's panels are a good half of a second one of 256 KB, and the right factor's stay in the
// third.
constexpr std::int64_t kBlockDepth = 256, kBlockRows = 144, kBlockColumns = 1024, kDepthUnit = 4;

// About the cycles that a tile, a panel of the left factor and one of the right take for each step
// of the depth: two multiply-adds start in each, and a packed number takes half of one.
constexpr std::int64_t kTileCycles = 6, kLeftCycles = 3, kRightCycles = 8;

// oneDNN's own condition, for products without a transposed left factor.
bool IsNoCopy(std::int64_t rows, std::int64_t columns) {
  constexpr double kLeast = 0.0038;
  return 1.0 / static_cast<double>(rows) + 1.0 / static_cast<double>(columns) >= kLeast;
}

Factor FactorOf(char transpose, const float* data, std::int64_t stride) {
  return transpose == 'N' ? Factor{data, stride, 1} : Factor{data, 1, stride};
}

}  // namespace

// The factors at the beginning of a block of the depth.
struct BlockedGemm::Factors {
  Factor left, right;
  std::int64_t depth;
};

bool BlockedGemmPays(const Gemm& g) {
  // Below these sizes packing takes what the kernel saves.
  constexpr std::int64_t kFewRows = 64, kNarrow = 256, kDeep = 512;
  if (simd::BestInstructionSet() != simd::InstructionSet::kAvx2) return false;
  if (g.transpose_a == 'T') return g.m >= kNarrow && g.n >= kNarrow && g.k >= kDeep;
  return g.m >= kFewRows && g.n >= kNarrow && g.k >= kNarrow && IsNoCopy(g.m, g.n);
}

BlockedGemm::BlockedGemm(std::int64_t m, std::int64_t n, std::int64_t k)
    : n_(n),
      k_(k),
      grid_({m, kPanelRows}, {n, kPanelColumns},
            [](std::int64_t down, std::int64_t across) {
              return down * across * kTileCycles + down * kLeftCycles + across * kRightCycles;
            }),
      depth_(EvenPart(k, kBlockDepth, kDepthUnit)),
      rows_(EvenPart(grid_.MostRows(), kBlockRows, kPanelRows)),
      columns_(EvenPart(grid_.MostColumns(), kBlockColumns, kPanelColumns)) {}

std::int64_t BlockedGemm::PieceSize() const {
  constexpr std::int64_t kBytes = sizeof(float);
  const std::int64_t left = rows_ * depth_ + simd::avx2::kPackedBehind;
  return RoundUpToAlignment((RightSize() + left) * kBytes) / kBytes;
}

std::int64_t BlockedGemm::ScratchBytes() const {
  return grid_.Pieces() * PieceSize() * static_cast<std::int64_t>(sizeof(float));
}

void BlockedGemm::Run(const Gemm& g, const GemmTarget& target, void* scratch) const {
  const Factor left = FactorOf(g.transpose_a, g.a, g.stride_a);
  const Factor right = FactorOf(g.transpose_b, g.b, g.stride_b);
  eigen::ParallelFor(grid_.Pieces(), 1, [&](std::int64_t piece, std::int64_t) {
    float* const own = static_cast<float*>(scratch) + piece * PieceSize();
    ForRanges({0, k_}, depth_, [&](const Range& depth) {
      const Factors factors{left.At(0, depth.begin), right.At(depth.begin, 0), depth.count};
      const GemmTarget sum{target.c, target.c, nullptr};
      RunPiece(factors, depth.begin == 0 ? target : sum, grid_.Rows(piece), grid_.Columns(piece),
               own);
    });
  });
}

void BlockedGemm::RunPiece(const Factors& factors, const GemmTarget& target, const Range& rows,
                           const Range& columns, float* scratch) const {
  ForRanges(columns, columns_,
            [&](const Range& some) { RunBlock(factors, target, rows, some, scratch); });
}

// The right factor's panels are packed when the first rows meet them, and read again by the rest.
// Meanwhile the next panel is asked for, from where it will be read.
void BlockedGemm::RunBlock(const Factors& f, const GemmTarget& target, const Range& rows,
                           const Range& columns, float* scratch) const {
  float* const left = scratch + RightSize();
  ForRanges(rows, rows_, [&](const Range& some) {
    const bool packs = some.begin == rows.begin;
    simd::avx2::PackLeft(f.left.At(some.begin, 0), some.count, f.depth, left);
    float* panel = scratch;
    ForRanges(columns, kPanelColumns, [&](const Range& across) {
      const Factor from = f.right.At(0, across.begin);
      if (packs) simd::avx2::PackRight(from, f.depth, across.count, panel);
      const std::int64_t at = some.begin * n_ + across.begin;
      simd::avx2::PanelProduct p{.left = left,
                                 .right = panel,
                                 .depth = f.depth,
                                 .rows = some.count,
                                 .columns = across.count,
                                 .c = target.c + at,
                                 .addend = target.addend ? target.addend + at : nullptr,
                                 .row = n_,
                                 .bias = target.bias ? target.bias + across.begin : nullptr,
                                 .next = {}};
      panel += f.depth * kPanelColumns;
      const bool is_last = across.begin + kPanelColumns >= columns.begin + columns.count;
      if (!is_last && !packs) p.next = {panel, kPanelColumns, f.depth};
      if (!is_last && packs && from.column == 1) {
        p.next = {from.data + kPanelColumns, from.row, f.depth};
      }
      simd::avx2::MultiplyPanel(p);
    });
  });
}

}  // namespace frugal::onednn
