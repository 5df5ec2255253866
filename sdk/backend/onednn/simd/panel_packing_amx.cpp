#include <algorithm>

#include "sdk/backend/onednn/simd/amx_vectors.h"
#include "sdk/backend/onednn/simd/panel_product.h"

namespace frugal::simd {
namespace {

// pack(rows, to) of each block of 32 x 32, which is padded with zeros where it is not whole.
template <class Pack>
void PackBlocks(const MatrixRows& from, BFloat16* to, const Pack& pack) {
  alignas(64) BFloat16 padded[kMatrixBlock * kMatrixBlock];
  const std::int64_t panel = PanelSize(from.count);
  for (std::int64_t r = 0; r < from.count; r += kMatrixBlock) {
    for (std::int64_t c = 0; c < from.width; c += kMatrixBlock) {
      MatrixRows block{from.data + r * from.row + c, from.row,
                       std::min(kMatrixBlock, from.count - r),
                       std::min(kMatrixBlock, from.width - c)};
      if (block.count < kMatrixBlock || block.width < kMatrixBlock) {
        CopyPadded(block, kMatrixBlock, kMatrixBlock, padded);
        block = {padded, kMatrixBlock, kMatrixBlock, kMatrixBlock};
      }
      pack(block, to + c / kMatrixBlock * panel + r * kMatrixBlock);
    }
  }
}

}  // namespace

void PackLeftPanels(const MatrixRows& from, BFloat16* to) {
  PackBlocks(from, to, [](const MatrixRows& block, BFloat16* at) {
    TransposeMatrix(block, at, kMatrixBlock);
  });
}

void PackRightPanels(const MatrixRows& from, BFloat16* to) { PackBlocks(from, to, PairRows); }

}  // namespace frugal::simd
