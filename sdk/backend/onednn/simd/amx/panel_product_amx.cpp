#include <algorithm>

#include "sdk/backend/onednn/simd/amx/amx_tiles.h"
#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kAmxBlock * kAmxBlock;

// A block of c lies at `at`; it may have fewer than 32 rows and columns.
struct BlockOfC {
  float* at = nullptr;
  std::int64_t row = 0, rows = 0, columns = 0;
  bool IsWhole() const { return rows == kAmxBlock && columns == kAmxBlock; }
};

BlockOfC BlockAt(const PanelProduct& p, std::int64_t row, std::int64_t column) {
  return {p.c + row * p.c_row + column, p.c_row, std::min(kAmxBlock, p.rows - row),
          std::min(kAmxBlock, p.columns - column)};
}

// Some rows of the block that is next, which come nearer while this one is computed.
void Foresee(const BlockOfC& next, std::int64_t row, std::int64_t count) {
  for (std::int64_t r = row; r < std::min(row + count, next.rows); ++r) {
    const float* const from = next.at + r * next.row;
    __builtin_prefetch(from, 1);
    __builtin_prefetch(from + std::min<std::int64_t>(16, next.columns - 1), 1);
  }
}

// Asks for rows line by line, some at a time.
class Foresight {
 public:
  Foresight(const AmxRows& rows, std::int64_t steps)
      : rows_(rows), lines_((rows.count * rows.width / kLine + steps - 1) / steps) {}

  void Step() {
    for (std::int64_t i = 0; i < lines_ && row_ < rows_.count; ++i) {
      __builtin_prefetch(rows_.data + row_ * rows_.row + column_, 0, 2);
      column_ += kLine;
      if (column_ < rows_.width) continue;
      column_ = 0;
      ++row_;
    }
  }

 private:
  static constexpr std::int64_t kLine = 32;

  AmxRows rows_;
  std::int64_t lines_;  // per step
  std::int64_t row_ = 0, column_ = 0;
};

template <class Between>
void Multiply(const PanelProduct& p, const BFloat16* left, const BFloat16* right, float* c,
              std::int64_t c_row, bool accumulate, const Between& between) {
  const AmxProduct product{left,  kAmxBlock, right,     kAmxBlock, c,
                           c_row, kAmxBlock, kAmxBlock, p.depth,   accumulate};
  if (p.right_passes) return MultiplyBlock<true>(product, left, kBlockSize, right, c, between);
  MultiplyBlock(product, left, kBlockSize, right, c, between);
}

void AddPart(const float* from, const BlockOfC& to, bool accumulate) {
  for (std::int64_t r = 0; r < to.rows; ++r, from += kAmxBlock) {
    for (std::int64_t c = 0; c < to.columns; c += 16) {
      const auto inside = static_cast<__mmask16>(FirstOf32(to.columns - c));
      float* const at = to.at + r * to.row + c;
      __m512 sum = _mm512_load_ps(from + c);
      if (accumulate) sum = _mm512_add_ps(_mm512_maskz_loadu_ps(inside, at), sum);
      _mm512_mask_storeu_ps(at, inside, sum);
    }
  }
}

template <class Between>
void Compute(const PanelProduct& p, const BFloat16* left, const BFloat16* right, const BlockOfC& to,
             const Between& between) {
  if (to.IsWhole()) return Multiply(p, left, right, to.at, to.row, p.accumulate, between);
  alignas(64) float sums[kBlockSize];
  Multiply(p, left, right, sums, kAmxBlock, false, between);
  Fence();
  AddPart(sums, to, p.accumulate);
}

// Blocks of c that are on their way from memory: a product of few rows takes less time than those.
constexpr std::int64_t kBlocksAhead = 4;

// body(left panel, right panel, block of c, the block that is to come nearer) for all blocks of c
template <class Body>
void ForBlocks(const PanelProduct& p, const Body& body) {
  const std::int64_t panel = PanelSize(p.depth), across = WholeBlocks(p.columns);
  const std::int64_t count = WholeBlocks(p.rows) * across;
  const std::int64_t ahead = std::min(kBlocksAhead, std::max<std::int64_t>(1, count / 4));
  const auto block = [&](std::int64_t i) {
    return BlockAt(p, i / across * kAmxBlock, i % across * kAmxBlock);
  };
  for (std::int64_t i = 0; i < count; ++i) {
    body(p.left + i / across * panel, p.right + i % across * panel, block(i),
         i + ahead < count ? block(i + ahead) : BlockOfC());
  }
}

// A right factor of ones, or a left one.
struct alignas(64) Ones {
  BFloat16 values[kBlockSize / 2];
  Ones() { std::fill_n(values, kBlockSize / 2, BFloat16(1.0f)); }
};

void AddSums(const float* from, std::int64_t columns, bool accumulate, float* to) {
  for (std::int64_t c = 0; c < std::min(kAmxBlock, columns); ++c) {
    to[c] = accumulate ? to[c] + from[c] : from[c];
  }
}

}  // namespace

void MultiplyPanels(const PanelProduct& p) {
  Fence();
  if (p.soon.count > 0) {
    Foresight soon(p.soon, WholeBlocks(p.rows) * WholeBlocks(p.columns) * WholeBlocks(p.depth));
    const auto foresee = [&](std::int64_t) { soon.Step(); };
    return ForBlocks(p, [&](const BFloat16* left, const BFloat16* right, const BlockOfC& to,
                            const BlockOfC&) { Compute(p, left, right, to, foresee); });
  }
  ForBlocks(p, [&](const BFloat16* left, const BFloat16* right, const BlockOfC& to,
                   const BlockOfC& next) {
    Compute(p, left, right, to, [&](std::int64_t k) { Foresee(next, k / 8, 4); });
  });
}

void SumLeftPanels(const PanelSums& p) {
  static const Ones ones;
  alignas(64) float sums[2 * kBlockSize / 4], column[kAmxBlock];
  Fence();
  _tile_loadd(6, ones.values, 64);
  for (std::int64_t c = 0; c < p.columns; c += kAmxBlock) {
    const BFloat16* from = p.panels + c / kAmxBlock * PanelSize(p.rows);
    _tile_zero(0);
    _tile_zero(1);
    for (std::int64_t k = 0; k < p.rows; k += kAmxBlock, from += kBlockSize) {
      _tile_loadd(4, from, 64);
      _tile_loadd(5, from + kBlockSize / 2, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 5, 6);
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + kBlockSize / 4, 64);
    Fence();
    for (std::int64_t i = 0; i < kAmxBlock; ++i) column[i] = sums[16 * i];
    AddSums(column, p.columns - c, p.accumulate, p.sums + c);
  }
}

void SumRightPanels(const PanelSums& p) {
  static const Ones ones;
  alignas(64) float sums[2 * kBlockSize / 4];
  Fence();
  _tile_loadd(4, ones.values, 64);
  for (std::int64_t c = 0; c < p.columns; c += kAmxBlock) {
    const BFloat16* from = p.panels + c / kAmxBlock * PanelSize(p.rows);
    _tile_zero(0);
    _tile_zero(1);
    for (std::int64_t k = 0; k < p.rows; k += kAmxBlock, from += kBlockSize) {
      _tile_loadd(6, from, 128);
      _tile_loadd(7, from + 32, 128);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
    }
    _tile_stored(0, sums, 128);
    _tile_stored(1, sums + 16, 128);
    Fence();
    AddSums(sums, p.columns - c, p.accumulate, p.sums + c);
  }
}

}  // namespace frugal::simd
