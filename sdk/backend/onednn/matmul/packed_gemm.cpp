#include "sdk/backend/onednn/matmul/packed_gemm.h"

#include <algorithm>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/gemm/thread_partition.h"
#include "sdk/backend/onednn/primitive/packed_weight.h"
#include "sdk/backend/onednn/simd/amx/attention_amx.h"
#include "sdk/backend/onednn/simd/amx/gemm_tiles.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"
#include "sdk/backend/onednn/simd/amx/weight_tiles.h"

namespace frugal::onednn {
namespace {

using simd::kAmxBlock;
using simd::kTileInputs;
using simd::kTileOutputs;
using simd::kTileSize;
using simd::Whole;

std::int64_t Count(std::int64_t size, std::int64_t piece) { return (size + piece - 1) / piece; }

class PackedGemmOperation final : public Operation {
 public:
  explicit PackedGemmOperation(const PackedLinearDescription& d)
      : d_(d),
        forward_(d.pass == Pass::kForward),
        depth_(forward_ ? d.inputs : d.outputs),
        columns_(forward_ ? d.outputs : d.inputs),
        // A piece reads its rows and its part of the weight.
        grid_({d.rows, kAmxBlock}, {columns_, kTileOutputs},
              [](std::int64_t down, std::int64_t across) {
                return down * kAmxBlock + across * kTileOutputs;
              }),
        rows_stay_(grid_.MostRows() * Whole(depth_) <= kStayingRows),
        width_(ColumnsAtATime()),
        transposes_pieces_(!forward_ && grid_.IsSplitByColumns()) {}

  // [sums of each piece][transposed tiles][filled up rows of each piece]
  std::int64_t ScratchBytes() const override {
    return grid_.Pieces() * SumsSize() * kFloatBytes +
           (TransposedSize() + grid_.Pieces() * FilledSize()) * kHalfBytes;
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const auto find = [&](Slot slot) { return DataOf(arguments, slot); };
    const auto* const from =
        static_cast<const BFloat16*>(find(forward_ ? Slot::kSource : Slot::kDestinationGradient));
    const auto* const weight = static_cast<const BFloat16*>(find(Slot::kWeight));
    auto* const sums = static_cast<float*>(scratch);
    auto* const transposed = reinterpret_cast<BFloat16*>(sums + grid_.Pieces() * SumsSize());
    if (!forward_ && !transposes_pieces_) TransposeAll(weight, transposed);
    simd::PackedGemm p{};
    p.depth = depth_;
    p.bias = d_.bias ? static_cast<const float*>(find(Slot::kBias)) : nullptr;
    p.residual = d_.residual ? static_cast<const BFloat16*>(find(Slot::kResidual)) : nullptr;
    p.relu = d_.epilogue.activation == Activation::kRelu;
    p.y = static_cast<BFloat16*>(find(forward_ ? Slot::kDestination : Slot::kSourceGradient));
    p.row = columns_;
    eigen::ParallelFor(grid_.Pieces(), 1, [&](std::int64_t piece, std::int64_t) {
      const simd::AmxSession session;
      simd::PackedGemm own = p;
      own.sums = sums + piece * SumsSize();
      const Source source{from, transposed + TransposedSize() + piece * FilledSize()};
      const Range all = grid_.Columns(piece);
      ForRanges(all, width_, [&](const Range& columns) {
        if (transposes_pieces_) {
          BFloat16* const tiles = transposed + piece * PieceSize();
          TransposeColumns(weight, columns, tiles);
          own.tiles = tiles;
          return Multiply(own, source, grid_.Rows(piece), columns, 0);
        }
        own.tiles = (forward_ ? weight : transposed) + columns.begin * Whole(depth_);
        const std::int64_t next = columns.begin + columns.count;
        Multiply(own, source, grid_.Rows(piece), columns,
                 std::min(width_, all.begin + all.count - next));
      });
    });
  }

 private:
  static constexpr std::int64_t kHalfBytes = sizeof(BFloat16), kFloatBytes = sizeof(float);

  // Elements of the second cache of 2 MB. Rows of so many elements stay there while columns of the
  // weight pass; more rows pass while columns stay.
  static constexpr std::int64_t kStayingRows = 384 << 10, kPassingColumns = 96 << 10,
                                kStayingColumns = 400 << 10, kAllColumns = 600 << 10;

  // Fewer where others follow, which are fetched meanwhile.
  std::int64_t ColumnsAtATime() const {
    const std::int64_t all = grid_.MostColumns(), depth = Whole(depth_);
    if (!rows_stay_ && all * depth <= kAllColumns) return all;
    const std::int64_t elements = rows_stay_ ? kPassingColumns : kStayingColumns;
    return std::max(elements / depth / kTileOutputs, std::int64_t{1}) * kTileOutputs;
  }

  // So many of a block's 32 lines are asked for in each product of two blocks that all are there
  // when the block before it has met `others` rows or columns. More at a time only wait.
  static std::int64_t LinesPerStep(std::int64_t others) {
    constexpr std::int64_t kBlockLines = 32, kMost = 4;
    return std::clamp((kBlockLines * kAmxBlock + others / 2) / others, std::int64_t{1}, kMost);
  }

  std::int64_t SumsSize() const { return simd::RowSums(width_); }
  std::int64_t FilledSize() const { return kAmxBlock * Whole(depth_); }
  std::int64_t TransposedStep() const { return simd::WholeBlocks(d_.outputs) * kTileSize; }
  std::int64_t PieceSize() const { return Count(width_, kTileOutputs) * TransposedStep(); }
  std::int64_t TransposedSize() const {
    if (forward_) return 0;
    return transposes_pieces_ ? grid_.Pieces() * PieceSize()
                              : Count(d_.inputs, kTileOutputs) * TransposedStep();
  }

  // Some columns of the tiles of up to 64 outputs, which lie one behind the other.
  void Transpose(const BFloat16* weight, std::int64_t out, const Range& columns,
                 BFloat16* transposed) const {
    const std::int64_t tiles = Count(d_.inputs, kTileInputs), step = tiles * kTileSize;
    const std::int64_t outputs = std::min(kTileOutputs, d_.outputs - out * kTileOutputs);
    transposed += 2 * out * kTileSize;
    for (std::int64_t c = 0; c < columns.count; c += kTileOutputs, transposed += TransposedStep()) {
      const std::int64_t tile = (columns.begin + c) / kTileInputs;
      simd::TransposeTiles(weight + out * step + tile * kTileSize, step, tile + 1 < tiles, outputs,
                           transposed);
    }
  }
  void TransposeColumns(const BFloat16* weight, const Range& columns, BFloat16* transposed) const {
    for (std::int64_t out = 0; out < Count(d_.outputs, kTileOutputs); ++out) {
      Transpose(weight, out, columns, transposed);
    }
  }
  void TransposeAll(const BFloat16* weight, BFloat16* transposed) const {
    eigen::ParallelFor(Count(d_.outputs, kTileOutputs), 1, [&](std::int64_t out, std::int64_t) {
      Transpose(weight, out, {0, d_.inputs}, transposed);
    });
  }

  struct Source {
    const BFloat16* rows;
    BFloat16* filled;  // room for a block of them
  };

  // Rows are read where they lie if they consist of whole blocks.
  void SetRows(const Source& source, const Range& rows, simd::PackedGemm& p) const {
    p.rows = rows.count;
    p.a = source.rows + rows.begin * depth_;
    p.a_row = depth_;
    if (rows.count == kAmxBlock && depth_ % kAmxBlock == 0) return;
    simd::CopyPadded({p.a, depth_, rows.count, depth_}, kAmxBlock, Whole(depth_), source.filled);
    p.a = source.filled;
    p.a_row = Whole(depth_);
  }

  // Some columns of all rows of a piece. The tiles of the next `soon` columns come nearer
  // meanwhile.
  void Multiply(simd::PackedGemm p, const Source& source, const Range& all, const Range& columns,
                std::int64_t soon) const {
    p.columns = columns.count;
    if (p.bias != nullptr) p.bias += columns.begin;
    p.soon_tiles.at = p.tiles + columns.count * Whole(depth_);
    const BFloat16* const soon_end = p.soon_tiles.at + soon * Whole(depth_);
    BFloat16* const y = p.y + columns.begin;
    const BFloat16* const residual = p.residual;
    ForRanges(all, kAmxBlock, [&](const Range& rows) {
      SetRows(source, rows, p);
      const std::int64_t end = rows.begin + rows.count;
      const bool has_next = !rows_stay_ && end + kAmxBlock <= all.begin + all.count;
      p.soon_rows = {source.rows + end * depth_, has_next ? LinesPerStep(columns.count) : 0};
      p.soon_tiles.lines = p.soon_tiles.at < soon_end ? LinesPerStep(all.count) : 0;
      p.y = y + rows.begin * p.row;
      if (residual != nullptr) p.residual = residual + rows.begin * p.row + columns.begin;
      simd::MultiplyRows(p);
    });
  }

  PackedLinearDescription d_;
  bool forward_;
  std::int64_t depth_, columns_;
  ThreadPartition grid_;
  bool rows_stay_;
  std::int64_t width_;  // columns at a time
  bool transposes_pieces_;
};

bool HasEpilogue(const LinearEpilogue& epilogue) {
  return epilogue.activation == Activation::kIdentity || epilogue.activation == Activation::kRelu;
}

}  // namespace

std::unique_ptr<Operation> MakePackedGemm(const PackedLinearDescription& d) {
  const bool ours = d.pass != Pass::kBackwardWeight && simd::HasAmxBf16() &&
                    HasEpilogue(d.epilogue) && IsPackedInTiles(d.inputs, d.outputs);
  return ours ? std::make_unique<PackedGemmOperation>(d) : nullptr;
}

// An input gradient of few rows does not make up for transposing the tiles.
bool PackedGemmPays(const PackedLinearDescription& d) {
  return d.rows >= (d.pass == Pass::kForward ? 128 : 512);
}

}  // namespace frugal::onednn
