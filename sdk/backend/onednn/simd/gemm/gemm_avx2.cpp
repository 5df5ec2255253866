#include "sdk/backend/onednn/simd/gemm/gemm_avx2.h"

#include <algorithm>
#include <cstring>

#include "sdk/backend/onednn/simd/vector/unroll.h"
#include "sdk/backend/onednn/simd/vector/vector.h"

namespace frugal::simd::avx2 {
namespace {

constexpr int kRows = kPanelRows, kVectors = kPanelColumns / kLanes;

// [depth, kPanelRows] from step `begin` of the depth on, with zeros behind `rows` of them.
void PackFewRows(const Factor& from, std::int64_t rows, std::int64_t begin, std::int64_t depth,
                 float* to) {
  for (std::int64_t k = begin; k < depth; ++k) {
    for (std::int64_t r = 0; r < kPanelRows; ++r) {
      to[k * kPanelRows + r] = r < rows ? *from.At(r, k).data : 0;
    }
  }
}

// Rows that lie one behind the other along the depth are transposed kLanes numbers at a time. With
// fewer lanes than rows this is compiled where there is no AVX2 at all, and never called.
void PackRowsAcross(const Factor& from, std::int64_t depth, float* to) {
  static_assert(kLanes <= kPanelRows + kPackedBehind);  // what the last store writes
  constexpr std::int64_t kFilled = kLanes < kPanelRows ? kLanes : kPanelRows;
  std::int64_t k = 0;
  for (; k + kLanes <= depth && kFilled == kPanelRows; k += kLanes) {
    Vector square[kLanes] = {};
    for (std::int64_t r = 0; r < kFilled; ++r) square[r] = Load(from.At(r, k).data);
    Transpose(square);
    for (std::int64_t i = 0; i < kLanes; ++i) Store(to + (k + i) * kPanelRows, square[i]);
  }
  PackFewRows(from, kPanelRows, k, depth, to);
}

void PackRowsAlong(const Factor& from, std::int64_t depth, float* to) {
  for (std::int64_t k = 0; k < depth; ++k) {
    std::memcpy(to + k * kPanelRows, from.At(0, k).data, kPanelRows * sizeof(float));
  }
}

void PackColumnsAlong(const Factor& from, std::int64_t depth, float* to) {
  for (std::int64_t k = 0; k < depth; ++k) {
    std::memcpy(to + k * kPanelColumns, from.At(k, 0).data, kPanelColumns * sizeof(float));
  }
}

void PackFewColumns(const Factor& from, std::int64_t columns, std::int64_t begin,
                    std::int64_t depth, float* to) {
  for (std::int64_t k = begin; k < depth; ++k) {
    for (std::int64_t j = 0; j < kPanelColumns; ++j) {
      to[k * kPanelColumns + j] = j < columns ? *from.At(k, j).data : 0;
    }
  }
}

void PackColumnsAcross(const Factor& from, std::int64_t depth, float* to) {
  std::int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
    for (std::int64_t j = 0; j < kPanelColumns; j += kLanes) {
      Vector square[kLanes];
      for (std::int64_t i = 0; i < kLanes; ++i) square[i] = Load(from.At(k, j + i).data);
      Transpose(square);
      for (std::int64_t i = 0; i < kLanes; ++i) {
        Store(to + (k + i) * kPanelColumns + j, square[i]);
      }
    }
  }
  PackFewColumns(from, kPanelColumns, k, depth, to);
}

// One tile of c, and what is added to it.
struct Tile {
  float* c;
  const float* addend;
  const float* bias;
  std::int64_t row;
};

void MultiplyTile(std::int64_t depth, const float* left, const float* right, const Tile& tile) {
  Vector sums[kRows][kVectors];
  Unroll<kRows, kVectors>([&]<int r, int v>() { sums[r][v] = Vector{}; });
  const auto add_up = [&]<int i>() {
    Vector across[kVectors];
    Unroll<kVectors>([&]<int v>() { across[v] = Load(right + i * kPanelColumns + v * kLanes); });
    Unroll<kRows>([&]<int r>() {
      const Vector down = Splat(left[i * kPanelRows + r]);
      Unroll<kVectors>([&]<int v>() { sums[r][v] = MultiplyAdd(sums[r][v], down, across[v]); });
    });
  };
  constexpr int kSteps = 4;
  for (; depth >= kSteps; depth -= kSteps) {
    Unroll<kSteps>(add_up);
    left += kSteps * kPanelRows;
    right += kSteps * kPanelColumns;
  }
  for (; depth > 0; --depth, left += kPanelRows, right += kPanelColumns) {
    add_up.template operator()<0>();
  }
  Unroll<kRows, kVectors>([&]<int r, int v>() {
    const std::int64_t at = r * tile.row + v * kLanes;
    Vector value = sums[r][v];
    if (tile.addend != nullptr) value += Load(tile.addend + at);
    if (tile.bias != nullptr) value += Load(tile.bias + v * kLanes);
    Store(tile.c + at, value);
  });
}

// A tile at the edge is summed as any other, and what is there of it is taken.
void MultiplyEdge(const PanelProduct& p, const float* left, const Tile& tile, std::int64_t rows) {
  float whole[kPanelRows * kPanelColumns];
  MultiplyTile(p.depth, left, p.right, {whole, nullptr, nullptr, kPanelColumns});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      float value = whole[r * kPanelColumns + j];
      if (tile.addend != nullptr) value += tile.addend[r * tile.row + j];
      if (tile.bias != nullptr) value += tile.bias[j];
      tile.c[r * tile.row + j] = value;
    }
  }
}

// Asks for the first and the last number of each row, which is no longer than a line.
void FetchRows(const Tile& tile, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* const row = tile.c + r * tile.row;
    __builtin_prefetch(row, 1, 3);
    __builtin_prefetch(row + columns - 1, 1, 3);
  }
}

}  // namespace

void PackLeft(const Factor& from, std::int64_t rows, std::int64_t depth, float* to) {
  for (std::int64_t r = 0; r < rows; r += kPanelRows, to += kPanelRows * depth) {
    const Factor panel = from.At(r, 0);
    if (rows - r < kPanelRows) {
      PackFewRows(panel, rows - r, 0, depth, to);
    } else if (from.row == 1) {
      PackRowsAlong(panel, depth, to);
    } else {
      PackRowsAcross(panel, depth, to);
    }
  }
}

void PackRight(const Factor& from, std::int64_t depth, std::int64_t columns, float* to) {
  if (columns < kPanelColumns) {
    PackFewColumns(from, columns, 0, depth, to);
  } else if (from.column == 1) {
    PackColumnsAlong(from, depth, to);
  } else {
    PackColumnsAcross(from, depth, to);
  }
}

void MultiplyPanel(const PanelProduct& p) {
  const std::int64_t tiles = (p.rows + kPanelRows - 1) / kPanelRows;
  const float* left = p.left;
  for (std::int64_t i = 0; i < tiles; ++i, left += kPanelRows * p.depth) {
    const std::int64_t first = i * kPanelRows * p.row, rows = p.rows - i * kPanelRows;
    const Tile tile{p.c + first, p.addend == nullptr ? nullptr : p.addend + first, p.bias, p.row};
    FetchRows(tile, std::min(rows, kPanelRows), p.columns);
    const std::int64_t end = p.next.count * (i + 1) / tiles;
    for (std::int64_t line = p.next.count * i / tiles; line < end; ++line) {
      __builtin_prefetch(p.next.at + line * p.next.step, 0, 2);
    }
    if (rows >= kPanelRows && p.columns == kPanelColumns) {
      MultiplyTile(p.depth, left, p.right, tile);
    } else {
      MultiplyEdge(p, left, tile, std::min(rows, kPanelRows));
    }
  }
}

}  // namespace frugal::simd::avx2
