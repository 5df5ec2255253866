#include "sdk/backend/onednn/row_product.h"

#include <algorithm>

#include "sdk/backend/eigen/parallel.h"
#include "sdk/backend/onednn/descriptors.h"
#include "sdk/backend/onednn/piece_grid.h"
#include "sdk/backend/onednn/simd/cpu_features.h"
#include "sdk/backend/onednn/simd/panel_product.h"
#include "sdk/backend/onednn/simd/row_product.h"
#include "sdk/backend/onednn/simd/weight_tiles.h"

namespace frugal::onednn {
namespace {

using simd::kMatrixBlock;
using simd::kTileInputs;
using simd::kTileOutputs;
using simd::kTileSize;
using simd::Whole;

std::int64_t Count(std::int64_t size, std::int64_t piece) { return (size + piece - 1) / piece; }

class RowProductOperation final : public Operation {
 public:
  explicit RowProductOperation(const PackedLinearDescription& d)
      : d_(d),
        forward_(d.pass == Pass::kForward),
        depth_(forward_ ? d.inputs : d.outputs),
        columns_(forward_ ? d.outputs : d.inputs),
        // A piece reads its rows and its part of the weight.
        grid_({d.rows, kMatrixBlock}, {columns_, kTileOutputs},
              [](std::int64_t down, std::int64_t across) {
                return down * kMatrixBlock + across * kTileOutputs;
              }),
        rows_(std::min(grid_.MostRows(), RowsAtATime(Whole(depth_)))) {}

  // [turned tiles][blocks of rows of each piece]
  std::int64_t ScratchBytes() const override {
    return (TurnedSize() + grid_.Pieces() * BlocksSize()) *
           static_cast<std::int64_t>(sizeof(BFloat16));
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const auto find = [&](Slot slot) { return DataOf(arguments, slot); };
    const auto* const from =
        static_cast<const BFloat16*>(find(forward_ ? Slot::kSource : Slot::kDestinationGradient));
    const auto* const weight = static_cast<const BFloat16*>(find(Slot::kWeight));
    auto* const turned = static_cast<BFloat16*>(scratch);
    if (!forward_) Turn(weight, turned);
    simd::RowProduct p{};
    p.tiles = forward_ ? weight : turned;
    p.depth = depth_;
    p.bias = d_.bias ? static_cast<const float*>(find(Slot::kBias)) : nullptr;
    p.residual = d_.residual ? static_cast<const BFloat16*>(find(Slot::kResidual)) : nullptr;
    p.relu = d_.epilogue.activation == Activation::kRelu;
    p.y = static_cast<BFloat16*>(find(forward_ ? Slot::kDestination : Slot::kSourceGradient));
    p.row = columns_;
    eigen::ParallelFor(grid_.Pieces(), 1, [&](std::int64_t piece, std::int64_t) {
      const simd::MatrixSession session;
      BFloat16* const blocks = turned + TurnedSize() + piece * BlocksSize();
      ForRanges(grid_.Rows(piece), rows_, [&](const Range& rows) {
        simd::PackRowBlocks({from + rows.begin * depth_, depth_, rows.count, depth_}, blocks);
        Multiply(p, rows, grid_.Columns(piece), blocks);
      });
    });
  }

 private:
  // So many that their blocks fill 768 KB of the second cache.
  static std::int64_t RowsAtATime(std::int64_t depth) {
    constexpr std::int64_t kElements = 384 << 10, kFewest = 64, kMost = 512;
    return std::clamp(kElements / depth / kMatrixBlock * kMatrixBlock, kFewest, kMost);
  }

  std::int64_t BlocksSize() const { return rows_ * Whole(depth_); }
  std::int64_t TurnedSize() const {
    return forward_ ? 0 : Count(d_.inputs, kTileOutputs) * TurnedStep();
  }
  std::int64_t TurnedStep() const { return simd::WholeBlocks(d_.outputs) * kTileSize; }

  void Turn(const BFloat16* weight, BFloat16* turned) const {
    const std::int64_t tiles = Count(d_.inputs, kTileInputs);
    eigen::ParallelFor(Count(d_.inputs, kTileOutputs), 1, [&](std::int64_t i, std::int64_t) {
      simd::TurnTiles(weight + 2 * i * kTileSize, tiles * kTileSize, 2 * i + 1 < tiles, d_.outputs,
                      turned + i * TurnedStep());
    });
  }

  static void Multiply(simd::RowProduct p, const Range& rows, const Range& columns,
                       const BFloat16* blocks) {
    const std::int64_t at = rows.begin * p.row + columns.begin;
    p.a = blocks;
    p.tiles += columns.begin * Whole(p.depth);
    p.rows = rows.count;
    p.columns = columns.count;
    if (p.bias != nullptr) p.bias += columns.begin;
    if (p.residual != nullptr) p.residual += at;
    p.y += at;
    simd::MultiplyRows(p);
  }

  PackedLinearDescription d_;
  bool forward_;
  std::int64_t depth_, columns_;
  PieceGrid grid_;
  std::int64_t rows_;  // at a time, whole blocks
};

bool HasEpilogue(const LinearEpilogue& epilogue) {
  return epilogue.activation == Activation::kIdentity || epilogue.activation == Activation::kRelu;
}

}  // namespace

std::unique_ptr<Operation> MakeRowProduct(const PackedLinearDescription& d) {
  const bool ours = d.pass != Pass::kBackwardWeight && simd::HasAmxBf16() &&
                    HasEpilogue(d.epilogue) && IsPackedInTiles(d.inputs, d.outputs);
  return ours ? std::make_unique<RowProductOperation>(d) : nullptr;
}

// An input gradient of few rows does not make up for turning the tiles.
bool RowProductPays(const PackedLinearDescription& d) {
  return d.rows >= (d.pass == Pass::kForward ? 128 : 512);
}

}  // namespace frugal::onednn
