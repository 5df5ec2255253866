#include "sdk/backend/onednn/gemm/no_copy_gemm.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/simd/attention/attention_loops.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/memory/allocator.h"

namespace frugal::onednn {
namespace {

// A step of sgemm's kernel computes so much.
constexpr std::int64_t kRowUnit = 8, kColumnUnit = 48, kDepthUnit = 8;

// The most of a call. Up to about 510 columns sgemm copies nothing (nocopy_checker_avx512 in
// oneDNN's src/cpu/x64/gemm/gemm_driver.cpp). A copy of ours stays in the second cache, and so do
// rows of C for what is added behind.
constexpr std::int64_t kMostRows = 256, kMostColumns = 480, kCopiedColumns = 384,
                       kCopiedDepth = 400;

bool RowsMeetInCaches(const Gemm& g) { return g.stride_b % 1024 == 0; }

ThreadPartition PiecesOf(const Gemm& g) {
  return {{g.m, kRowUnit}, {g.n, kColumnUnit}, [](std::int64_t down, std::int64_t across) {
            return down * kRowUnit + across * kColumnUnit;  // what a thread reads of both factors
          }};
}

// Adds what there is to some rows and columns of C.
void AddBehind(const GemmTarget& target, const Range& rows, const Range& columns, std::int64_t n) {
  const auto add = simd::SelectLoops().f32.elementwise.add;
  for (std::int64_t row = rows.begin; row < rows.begin + rows.count; ++row) {
    const std::int64_t at = row * n + columns.begin;
    float* const c = target.c + at;
    if (target.bias != nullptr) add(c, target.bias + columns.begin, c, columns.count);
    if (target.addend != nullptr) add(c, target.addend + at, c, columns.count);
  }
}

}  // namespace

bool NoCopyGemmPays(const Gemm& g) {
  constexpr std::int64_t kFewRows = 64, kNarrow = 192, kDeep = 512, kPowerRows = 512;
  constexpr std::int64_t kTransposedRows = 384, kTransposedDeep = 384;
  if (simd::BestInstructionSet() != simd::InstructionSet::kAvx512) return false;
  if (g.transpose_a == 'T' || g.m < kFewRows || g.n < kNarrow) return false;
  const ThreadPartition pieces = PiecesOf(g);
  if (pieces.MostRows() < kFewRows || pieces.MostColumns() < kNarrow) return false;
  if (g.transpose_b == 'T') return g.m >= kTransposedRows && g.k >= kTransposedDeep;
  // Rows of a power of two matmul copies itself.
  const bool power = std::has_single_bit(static_cast<std::uint64_t>(g.stride_b));
  return g.k >= kDeep && (g.m >= kPowerRows || !power || !RowsMeetInCaches(g));
}

NoCopyGemm::NoCopyGemm(const Gemm& sizes)
    : copies_(sizes.transpose_b == 'T' || RowsMeetInCaches(sizes)),
      grid_(PiecesOf(sizes)),
      columns_(std::min(copies_ ? kCopiedColumns : kMostColumns, grid_.MostColumns())),
      depth_(copies_ ? EvenPart(sizes.k, kCopiedDepth, kDepthUnit) : sizes.k) {}

std::int64_t NoCopyGemm::CopyBytes() const {
  if (!copies_) return 0;
  return RoundUpToAlignment(depth_ * columns_ * static_cast<std::int64_t>(sizeof(float)));
}

std::int64_t NoCopyGemm::ScratchBytes() const { return grid_.Pieces() * CopyBytes(); }

void NoCopyGemm::Run(const Gemm& g, const GemmTarget& target, void* scratch) const {
  eigen::ParallelFor(grid_.Pieces(), 1, [&](std::int64_t piece, std::int64_t) {
    auto* const copy = static_cast<std::byte*>(scratch) + piece * CopyBytes();
    ForRanges(grid_.Columns(piece), columns_, [&](const Range& columns) {
      RunColumns(g, target, grid_.Rows(piece), columns, reinterpret_cast<float*>(copy));
    });
  });
}

NoCopyGemm::Factor NoCopyGemm::RightFactor(const Gemm& g, const Range& depth, const Range& columns,
                                           float* copy) const {
  if (g.transpose_b == 'T') {
    simd::SelectAttentionLoops().transpose(g.b + columns.begin * g.stride_b + depth.begin,
                                           g.stride_b, columns.count, depth.count, 1.0f, copy,
                                           columns.count);
    return {copy, columns.count};
  }
  const float* const from = g.b + depth.begin * g.stride_b + columns.begin;
  if (!copies_) return {from, g.stride_b};
  for (std::int64_t i = 0; i < depth.count; ++i) {
    std::memcpy(copy + i * columns.count, from + i * g.stride_b,
                static_cast<std::size_t>(columns.count) * sizeof(float));
  }
  return {copy, columns.count};
}

void NoCopyGemm::RunColumns(const Gemm& g, const GemmTarget& target, const Range& rows,
                            const Range& columns, float* copy) const {
  const bool accumulates = target.addend == target.c;
  const GemmTarget behind{target.c, accumulates ? nullptr : target.addend, target.bias};
  ForRanges({0, g.k}, depth_, [&](const Range& depth) {
    const Factor right = RightFactor(g, depth, columns, copy);
    ForRanges(rows, kMostRows, [&](const Range& some) {
      MultiplyByOneDnn({.transpose_a = 'N',
                        .transpose_b = 'N',
                        .m = some.count,
                        .n = columns.count,
                        .k = depth.count,
                        .a = g.a + some.begin * g.stride_a + depth.begin,
                        .stride_a = g.stride_a,
                        .b = right.data,
                        .stride_b = right.stride},
                       accumulates || depth.begin > 0, target.c + some.begin * g.n + columns.begin,
                       g.n);
      if (depth.begin + depth.count == g.k) AddBehind(behind, some, columns, g.n);
    });
  });
}

}  // namespace frugal::onednn
