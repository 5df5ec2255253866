#include <limits>

#include "sdk/backend/onednn/simd/amx/amx_tiles.h"
#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/gemm_tiles.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"
#include "sdk/backend/onednn/simd/amx/weight_tiles.h"

// A branch that was guessed wrongly costs hundreds of cycles where stores of tiles are under way:
// loops are unrolled, and how often they run depends on the depth alone. bench_products compares
// with oneDNN where most comes from memory.
namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kAmxBlock * kAmxBlock;

// A block of sums on its way into rows of y.
struct Writer {
  const float* sums;
  BFloat16* y;
  const BFloat16* residual;
  std::int64_t row;
  __mmask32 inside;
  __m512 low, high;  // bias
  __m512 least;

  template <bool kResidual>
  void Write(std::int64_t r) const {
    const float* const from = sums + r * kAmxBlock;
    __m512 first = _mm512_add_ps(_mm512_load_ps(from), low);
    __m512 second = _mm512_add_ps(_mm512_load_ps(from + 16), high);
    if constexpr (kResidual) {
      const __m512i pairs = _mm512_maskz_loadu_epi16(inside, residual + r * row);
      first = _mm512_add_ps(first, CastToF32(_mm512_castsi512_si256(pairs)));
      second = _mm512_add_ps(second, CastToF32(_mm512_extracti64x4_epi64(pairs, 1)));
    }
    // Not a number stays so.
    const __m512i pairs = Rounded(_mm512_max_ps(least, first), _mm512_max_ps(least, second));
    _mm512_mask_storeu_epi16(y + r * row, inside, pairs);
  }
};

struct Factors {
  const BFloat16* a;
  std::int64_t a_row;
  const BFloat16* tiles;
  std::int64_t steps;  // of 32 in depth
  LinesAhead soon_rows, soon_tiles;
};

// The weight's tiles pass the first cache by, in which a's stay for the next columns.
inline void Step(Factors& f) {
  f.soon_rows.Step();
  f.soon_tiles.Step();
  AddProduct<true>(f.a, 2 * f.a_row, f.tiles, 4 * kTileOutputs);
  f.a += kAmxBlock;
  f.tiles += kTileSize;
}

// sums = or += a block's product. Meanwhile the block before is written, kRows rows a step; none
// where kRows is 0.
template <int kRows, bool kAdd, bool kResidual>
void Multiply(Factors f, float* sums, const Writer& before) {
  constexpr std::int64_t kRowBytes = 4 * kAmxBlock;
  constexpr int kWriting = kRows == 0 ? 0 : static_cast<int>(kAmxBlock) / kRows;  // steps
  const Writer writer = before;
  Fence();
  kAdd ? LoadSums(sums, kRowBytes) : ZeroSums();
#pragma GCC unroll 8
  for (int k = 0; k < kWriting; ++k) {
#pragma GCC unroll 32
    for (int r = 0; r < kRows; ++r) writer.template Write<kResidual>(k * kRows + r);
    Step(f);
  }
#pragma GCC unroll 4
  for (std::int64_t k = kWriting; k < f.steps; ++k) Step(f);
  StoreSums(sums, kRowBytes);
  Fence();
}

using Multiplication = void (*)(Factors, float*, const Writer&);

template <bool kAdd, bool kResidual>
Multiplication MultiplicationOf(std::int64_t steps) {
  if (steps >= 16) return Multiply<2, kAdd, kResidual>;
  if (steps >= 8) return Multiply<4, kAdd, kResidual>;
  if (steps >= 4) return Multiply<8, kAdd, kResidual>;
  return Multiply<32, kAdd, kResidual>;
}

template <bool kResidual>
class Rows {
 public:
  explicit Rows(PackedGemm& p)
      : p_(p),
        across_(WholeBlocks(p.depth)),
        parts_((across_ + kMostSteps - 1) / kMostSteps),
        last_(PartBegin(parts_ - 1)),
        multiply_(parts_ > 1 ? MultiplicationOf<true, kResidual>(across_ - last_)
                             : MultiplicationOf<false, kResidual>(across_)) {}

  void Run() {
    for (std::int64_t part = 0; part + 1 < parts_; ++part) AddUp(part);
    alignas(64) static const float kZeros[kBlockSize] = {};
    alignas(64) BFloat16 nowhere[kBlockSize] = {};
    const __m512 zero = _mm512_setzero_ps();
    const Writer nothing{kZeros, nowhere, nowhere, kAmxBlock, ~__mmask32{0}, zero, zero, zero};
    Writer before = nothing;
    for (std::int64_t c = 0; c < p_.columns; c += kAmxBlock) {
      multiply_(FactorsOf(c, last_, across_), SumsOf(c), before);
      const Writer writer = WriterOf(c);
      if (p_.rows == kAmxBlock && c + kAmxBlock < p_.columns) {
        FetchResidual(c + kAmxBlock);
        before = writer;
        continue;
      }
      for (std::int64_t r = 0; r < p_.rows; ++r) writer.template Write<kResidual>(r);
      before = nothing;
    }
  }

 private:
  // As much depth as 32 rows of a may have in the first cache: 32 KB.
  static constexpr std::int64_t kMostSteps = 16;

  std::int64_t PartBegin(std::int64_t part) const { return across_ * part / parts_; }

  Factors FactorsOf(std::int64_t column, std::int64_t begin, std::int64_t end) {
    const BFloat16* const tiles = p_.tiles + (column / kTileOutputs * across_ + begin) * kTileSize;
    const Factors factors{p_.a + begin * kAmxBlock,
                          p_.a_row,
                          tiles + 2 * (column % kTileOutputs),
                          end - begin,
                          p_.soon_rows,
                          p_.soon_tiles};
    p_.soon_rows.Skip(end - begin);
    p_.soon_tiles.Skip(end - begin);
    return factors;
  }

  // Two blocks in turn where nothing is added to them later.
  float* SumsOf(std::int64_t column) const {
    const std::int64_t block = column / kAmxBlock;
    return p_.sums + (parts_ > 1 ? block : block % 2) * kBlockSize;
  }

  void AddUp(std::int64_t part) {
    const Writer nothing = {};
    const Multiplication multiply =
        part == 0 ? Multiply<0, false, false> : Multiply<0, true, false>;
    for (std::int64_t c = 0; c < p_.columns; c += kAmxBlock) {
      multiply(FactorsOf(c, PartBegin(part), PartBegin(part + 1)), SumsOf(c), nothing);
    }
  }

  Writer WriterOf(std::int64_t column) const {
    const __m512 zero = _mm512_setzero_ps();
    Writer writer{SumsOf(column),
                  p_.y + column,
                  kResidual ? p_.residual + column : nullptr,
                  p_.row,
                  FirstOf32(p_.columns - column),
                  zero,
                  zero,
                  p_.relu ? zero : _mm512_set1_ps(-std::numeric_limits<float>::infinity())};
    if (p_.bias == nullptr) return writer;
    const auto low = static_cast<__mmask16>(writer.inside);
    const auto high = static_cast<__mmask16>(writer.inside >> 16);
    writer.low = _mm512_maskz_loadu_ps(low, p_.bias + column);
    writer.high = _mm512_maskz_loadu_ps(high, p_.bias + column + 16);
    return writer;
  }

  void FetchResidual(std::int64_t column) const {
    if constexpr (!kResidual) return;
    for (std::int64_t r = 0; r < kAmxBlock; ++r) {
      __builtin_prefetch(p_.residual + r * p_.row + column);
    }
  }

  PackedGemm& p_;
  std::int64_t across_, parts_, last_;
  Multiplication multiply_;
};

}  // namespace

void MultiplyRows(PackedGemm& p) {
  p.residual != nullptr ? Rows<true>(p).Run() : Rows<false>(p).Run();
}

}  // namespace frugal::simd
