#include <algorithm>

#include "sdk/backend/onednn/simd/amx_tiles.h"
#include "sdk/backend/onednn/simd/amx_vectors.h"
#include "sdk/backend/onednn/simd/prefetch.h"
#include "sdk/backend/onednn/simd/row_product.h"
#include "sdk/backend/onednn/simd/weight_tiles.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kMatrixBlock * kMatrixBlock;

std::int64_t Blocks(std::int64_t count) { return (count + kMatrixBlock - 1) / kMatrixBlock; }

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

  // The block at row, column is computed next: its rows come nearer.
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

// Fetches the tiles of the next 64 columns, some lines at a time.
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

}  // namespace

void PackRowBlocks(const MatrixRows& from, BFloat16* to) {
  const std::int64_t across = Blocks(from.width);
  for (std::int64_t r = 0; r < Blocks(from.count) * kMatrixBlock; ++r) {
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
  const std::int64_t across = Blocks(p.depth), down = Blocks(p.rows);
  const std::int64_t per_step = (kMatrixBlock + across - 1) / across;  // rows
  Writer writer(p);
  Fence();
  for (std::int64_t column = 0; column < p.columns; column += kTileOutputs) {
    const BFloat16* const tiles = p.tiles + column * across * kMatrixBlock;
    const bool last = column + kTileOutputs >= p.columns;
    NextTiles soon(tiles + across * kTileSize, last ? 0 : across, 2 * down * across);
    const std::int64_t end = std::min(p.columns, column + kTileOutputs);
    for (std::int64_t row = 0; row < p.rows; row += kMatrixBlock) {
      for (std::int64_t c = column; c < end; c += kMatrixBlock) {
        const BFloat16* a = p.a + row * across * kMatrixBlock;
        const BFloat16* b = tiles + 2 * (c - column);
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (std::int64_t k = 0, first = 0; k < across;
             ++k, first += per_step, a += kBlockSize, b += kTileSize) {
          writer.Write(per_step);
          writer.Foresee(row, c, first, per_step);
          soon.Step();
          _tile_loadd(4, a, 64);
          _tile_loadd(6, b, 4 * kTileOutputs);
          _tile_loadd(7, b + 32, 4 * kTileOutputs);
          _tile_dpbf16ps(0, 4, 6);
          _tile_loadd(5, a + kBlockSize / 2, 64);
          _tile_dpbf16ps(1, 4, 7);
          _tile_dpbf16ps(2, 5, 6);
          _tile_dpbf16ps(3, 5, 7);
        }
        float* const sums = writer.Sums();
        _tile_stored(0, sums, 128);
        _tile_stored(1, sums + 16, 128);
        _tile_stored(2, sums + kBlockSize / 2, 128);
        _tile_stored(3, sums + kBlockSize / 2 + 16, 128);
        Fence();
        writer.Take(row, c);
      }
    }
  }
}

}  // namespace frugal::simd
