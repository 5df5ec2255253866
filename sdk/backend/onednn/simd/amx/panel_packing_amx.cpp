#include <algorithm>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/attention_amx.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kAmxBlock * kAmxBlock;

// pack(rows, to + row_step i + column_step j) of each block (i, j) of 32 x 32, which is padded with
// zeros where it is not whole.
template <class Pack>
void PackBlocks(const AmxRows& from, BFloat16* to, std::int64_t row_step, std::int64_t column_step,
                const Pack& pack) {
  alignas(64) BFloat16 padded[kAmxBlock * kAmxBlock];
  for (std::int64_t r = 0; r < from.count; r += kAmxBlock) {
    for (std::int64_t c = 0; c < from.width; c += kAmxBlock) {
      AmxRows block{from.data + r * from.row + c, from.row, std::min(kAmxBlock, from.count - r),
                    std::min(kAmxBlock, from.width - c)};
      if (block.count < kAmxBlock || block.width < kAmxBlock) {
        CopyPadded(block, kAmxBlock, kAmxBlock, padded);
        block = {padded, kAmxBlock, kAmxBlock, kAmxBlock};
      }
      pack(block, to + r / kAmxBlock * row_step + c / kAmxBlock * column_step);
    }
  }
}

}  // namespace

void PackLeftPanels(const AmxRows& from, BFloat16* to) {
  PackBlocks(from, to, kBlockSize, PanelSize(from.count),
             [](const AmxRows& block, BFloat16* at) { TransposeMatrix(block, at, kAmxBlock); });
}

void PackRightPanels(const AmxRows& from, BFloat16* to) {
  PackBlocks(from, to, kBlockSize, PanelSize(from.count), PairRows);
}

void PackTransposedPanels(const AmxRows& from, BFloat16* to) {
  PackBlocks(from, to, PanelSize(from.width), kBlockSize,
             [](const AmxRows& block, BFloat16* at) { PairColumns(block, at); });
}

void GatherRightPanel(const GatheredRows& from, BFloat16* to) {
  const __mmask32 inside = FirstOf32(from.width);
  const auto row = [&](std::int64_t i) {
    const BFloat16* const at = i < from.count ? from.rows[i] : nullptr;
    return at == nullptr ? _mm512_setzero_si512()
                         : _mm512_maskz_loadu_epi16(inside, at + from.first);
  };
  for (std::int64_t i = 0; i < WholeBlocks(from.count) * kAmxBlock; i += 2, to += 64) {
    const TwoPairs pairs = Paired(row(i), row(i + 1));
    StorePairs(to, pairs.low);
    StorePairs(to + 32, pairs.high);
  }
}

}  // namespace frugal::simd
