#include <algorithm>

#include "sdk/backend/onednn/simd/amx_tiles.h"
#include "sdk/backend/onednn/simd/amx_vectors.h"
#include "sdk/backend/onednn/simd/panel_product.h"
#include "sdk/backend/onednn/simd/prefetch.h"
#include "sdk/backend/onednn/simd/row_product.h"
#include "sdk/backend/onednn/simd/weight_tiles.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kMatrixBlock * kMatrixBlock;

// Rounds blocks of sums into rows, some rows at a time: while one is being computed, the other is
// written.
class Writer {
 public:
  explicit Writer(const RowProduct& p) : p_(p) {}
  ~Writer() { Write(kMatrixBlock); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Where the sums of the block that is computed now go.
  float* Sums() { return sums_[current_]; }

  // They are there, for the block of y at row, column; what was there before is written.
  void Take(std::int64_t row, std::int64_t column) {
    Write(kMatrixBlock);
    current_ = 1 - current_;
    offset_ = row * p_.row + column;
    next_ = 0;
    rows_ = std::min(kMatrixBlock, p_.rows - row);
    inside_ = FirstOf32(p_.columns - column);
    low_ = high_ = _mm512_setzero_ps();
    if (p_.bias == nullptr) return;
    low_ = _mm512_maskz_loadu_ps(static_cast<__mmask16>(inside_), p_.bias + column);
    high_ = _mm512_maskz_loadu_ps(static_cast<__mmask16>(inside_ >> 16), p_.bias + column + 16);
  }

  // Up to `count` more rows.
  void Write(std::int64_t count) {
    const float* from = sums_[1 - current_] + next_ * kMatrixBlock;
    for (; count > 0 && next_ < rows_; --count, ++next_, from += kMatrixBlock) {
      WriteRow(from, offset_ + next_ * p_.row);
    }
  }

  // The block at row, column is being computed: rows of y that it goes to come nearer.
  void Foresee(std::int64_t row, std::int64_t column, std::int64_t first,
               std::int64_t count) const {
    const std::int64_t end = std::min(first + count, std::min(kMatrixBlock, p_.rows - row));
    for (std::int64_t r = first; r < end; ++r) {
      const std::int64_t at = (row + r) * p_.row + column;
      __builtin_prefetch(p_.y + at, 1);
      if (p_.residual != nullptr) __builtin_prefetch(p_.residual + at);
    }
  }

 private:
  void WriteRow(const float* from, std::int64_t at) const {
    __m512 low = _mm512_add_ps(_mm512_load_ps(from), low_);
    __m512 high = _mm512_add_ps(_mm512_load_ps(from + 16), high_);
    if (p_.residual != nullptr) {
      const __m512i pairs = _mm512_maskz_loadu_epi16(inside_, p_.residual + at);
      low = _mm512_add_ps(low, Widened(_mm512_castsi512_si256(pairs)));
      high = _mm512_add_ps(high, Widened(_mm512_extracti64x4_epi64(pairs, 1)));
    }
    if (p_.relu) {  // not a number stays so
      low = _mm512_max_ps(_mm512_setzero_ps(), low);
      high = _mm512_max_ps(_mm512_setzero_ps(), high);
    }
    _mm512_mask_storeu_epi16(p_.y + at, inside_, Rounded(low, high));
  }

  const RowProduct& p_;
  alignas(64) float sums_[2][kBlockSize];
  int current_ = 0;
  std::int64_t offset_ = 0, next_ = 0, rows_ = 0;
  __mmask32 inside_ = 0;
  __m512 low_ = _mm512_setzero_ps(), high_ = low_;
};

// Fetches the tiles of the next columns, some lines at a time.
class NextTiles {
 public:
  NextTiles(const BFloat16* tiles, std::int64_t count, std::int64_t steps)
      : at_(tiles),
        end_(tiles + count * kTileSize),
        lines_((count * kTileSize / kLine + steps - 1) / steps) {}

  void Step() {
    for (std::int64_t i = 0; i < lines_ && at_ < end_; ++i, at_ += kLine) {
      __builtin_prefetch(at_, 0, 2);
    }
  }

 private:
  static constexpr std::int64_t kLine = 32;

  const BFloat16* at_;
  const BFloat16* end_;
  std::int64_t lines_;  // per step
};

// Long pieces of the result's rows are written at a time, as long as the weight's columns for them
// stay within 192 KB of the second cache.
std::int64_t ColumnsAtATime(std::int64_t depth) {
  constexpr std::int64_t kElements = 96 << 10, kMost = 256;
  return std::clamp(kElements / depth / kTileOutputs * kTileOutputs, kTileOutputs, kMost);
}

std::int64_t TilesOf(std::int64_t columns) { return (columns + kTileOutputs - 1) / kTileOutputs; }

}  // namespace

void PackRowBlocks(const MatrixRows& from, BFloat16* to) {
  const std::int64_t across = WholeBlocks(from.width);
  for (std::int64_t r = 0; r < WholeBlocks(from.count) * kMatrixBlock; ++r) {
    BFloat16* at =
        to + (r / kMatrixBlock * across * kMatrixBlock + r % kMatrixBlock) * kMatrixBlock;
    const BFloat16* const row = from.data + r * from.row;
    const bool there = r < from.count;
    if (there) FetchAhead(row, from.width);
    for (std::int64_t c = 0; c < from.width; c += kMatrixBlock, at += kBlockSize) {
      const __mmask32 inside = there ? FirstOf32(from.width - c) : 0;
      StorePairs(at, _mm512_maskz_loadu_epi16(inside, row + c));
    }
  }
}

void MultiplyRows(const RowProduct& p) {
  const std::int64_t across = WholeBlocks(p.depth), down = WholeBlocks(p.rows);
  const std::int64_t per_step = (kMatrixBlock + across - 1) / across;  // rows
  const std::int64_t width = ColumnsAtATime(p.depth), step = across * kTileSize;
  Writer writer(p);
  Fence();
  for (std::int64_t column = 0; column < p.columns; column += width) {
    const std::int64_t end = std::min(p.columns, column + width);
    const std::int64_t left = TilesOf(std::min(width, p.columns - end)) * across;
    NextTiles soon(p.tiles + TilesOf(end) * step, left, down * WholeBlocks(end - column) * across);
    for (std::int64_t row = 0; row < p.rows; row += kMatrixBlock) {
      for (std::int64_t c = column; c < end; c += kMatrixBlock) {
        const BFloat16* const a = p.a + row * across * kMatrixBlock;
        const BFloat16* const b = p.tiles + c / kTileOutputs * step + 2 * (c % kTileOutputs);
        float* const sums = writer.Sums();
        const MatrixProduct product{a,
                                    kMatrixBlock,
                                    b,
                                    kTileOutputs,
                                    sums,
                                    kMatrixBlock,
                                    kMatrixBlock,
                                    kMatrixBlock,
                                    across * kMatrixBlock,
                                    false};
        MultiplyBlock(product, a, kBlockSize, b, sums, [&](std::int64_t k) {
          writer.Write(per_step);
          writer.Foresee(row, c, k / kMatrixBlock * per_step, per_step);
          soon.Step();
        });
        Fence();
        writer.Take(row, c);
      }
    }
  }
}

}  // namespace frugal::simd
