#include <algorithm>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kMatrixBlock * kMatrixBlock;

// pack(rows, to + row_step i + column_step j) of each block (i, j) of 32 x 32, which is padded with
// zeros where it is not whole.
template <class Pack>
void PackBlocks(const MatrixRows& from, BFloat16* to, std::int64_t row_step,
                std::int64_t column_step, const Pack& pack) {
  alignas(64) BFloat16 padded[kMatrixBlock * kMatrixBlock];
  for (std::int64_t r = 0; r < from.count; r += kMatrixBlock) {
    for (std::int64_t c = 0; c < from.width; c += kMatrixBlock) {
      MatrixRows block{from.data + r * from.row + c, from.row,
                       std::min(kMatrixBlock, from.count - r),
                       std::min(kMatrixBlock, from.width - c)};
      if (block.count < kMatrixBlock || block.width < kMatrixBlock) {
        CopyPadded(block, kMatrixBlock, kMatrixBlock, padded);
        block = {padded, kMatrixBlock, kMatrixBlock, kMatrixBlock};
      }
      pack(block, to + r / kMatrixBlock * row_step + c / kMatrixBlock * column_step);
    }
  }
}

}  // namespace

void PackLeftPanels(const MatrixRows& from, BFloat16* to) {
  PackBlocks(
      from, to, kBlockSize, PanelSize(from.count),
      [](const MatrixRows& block, BFloat16* at) { TransposeMatrix(block, at, kMatrixBlock); });
}

void PackRightPanels(const MatrixRows& from, BFloat16* to) {
  PackBlocks(from, to, kBlockSize, PanelSize(from.count), PairRows);
}

void PackTurnedPanels(const MatrixRows& from, BFloat16* to) {
  PackBlocks(from, to, PanelSize(from.width), kBlockSize,
             [](const MatrixRows& block, BFloat16* at) { PairColumns(block, at); });
}

void GatherRightPanel(const GatheredRows& from, BFloat16* to) {
  const __mmask32 inside = FirstOf32(from.width);
  const auto row = [&](std::int64_t i) {
    const BFloat16* const at = i < from.count ? from.rows[i] : nullptr;
    return at == nullptr ? _mm512_setzero_si512()
                         : _mm512_maskz_loadu_epi16(inside, at + from.first);
  };
  for (std::int64_t i = 0; i < WholeBlocks(from.count) * kMatrixBlock; i += 2, to += 64) {
    const TwoPairs pairs = Paired(row(i), row(i + 1));
    StorePairs(to, pairs.low);
    StorePairs(to + 32, pairs.high);
  }
}

}  // namespace frugal::simd
