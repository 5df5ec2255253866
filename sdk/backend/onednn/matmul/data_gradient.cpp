#include "sdk/backend/onednn/matmul/data_gradient.h"

#include <algorithm>
#include <array>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/primitive/packed_weight.h"
#include "sdk/backend/onednn/simd/amx/attention_amx.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"
#include "sdk/backend/onednn/simd/amx/weight_tiles.h"

namespace frugal::onednn {
namespace {

using simd::kAmxBlock;

constexpr std::int64_t kDepth = 256;         // outputs of a panel: 16 KB in the first cache
constexpr std::int64_t kMostRows = 1024;     // at a time
constexpr std::int64_t kPacked = 256 << 10;  // elements of dy: 512 KB in the second cache

using simd::Whole;

class DataGradient final : public Operation {
 public:
  explicit DataGradient(const PackedLinearDescription& d)
      : d_(d),
        rows_(Whole(std::min(kMostRows, d.rows))),
        outputs_(std::max(kDepth, kPacked / rows_ / kDepth * kDepth)),
        packed_size_(rows_ * std::min(outputs_, Whole(d.outputs))) {}

  // [panels of dy][the transpose of dx]
  std::int64_t ScratchBytes() const override {
    return packed_size_ * 2 + Whole(d_.inputs) * rows_ * 4;
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const auto* const dy =
        static_cast<const BFloat16*>(DataOf(arguments, Slot::kDestinationGradient));
    auto* const dx = static_cast<BFloat16*>(DataOf(arguments, Slot::kSourceGradient));
    weight_ = static_cast<const BFloat16*>(DataOf(arguments, Slot::kWeight));
    panels_ = static_cast<BFloat16*>(scratch);
    sums_ = reinterpret_cast<float*>(panels_ + packed_size_);
    for (std::int64_t row = 0; row < d_.rows; row += rows_) {
      const std::int64_t rows = std::min(rows_, d_.rows - row);
      for (std::int64_t output = 0; output < d_.outputs; output += outputs_) {
        const Part part{rows, output, std::min(outputs_, d_.outputs - output)};
        Pack(dy + row * d_.outputs + output, part);
        Multiply(part, dx + row * d_.inputs);
      }
    }
  }

 private:
  // Some rows and, of all inputs, some outputs.
  struct Part {
    std::int64_t rows, output, outputs;
  };

  // Panels of kDepth outputs, those of the first outputs first; read along the rows.
  void Pack(const BFloat16* dy, const Part& part) const {
    const std::int64_t blocks = simd::WholeBlocks(part.rows);
    const std::int64_t steps = (part.outputs + kDepth - 1) / kDepth;
    eigen::ParallelFor(steps * blocks, 1, [&](std::int64_t i, std::int64_t) {
      const std::int64_t row = i / steps * kAmxBlock, output = i % steps * kDepth;
      const std::int64_t depth = std::min(kDepth, part.outputs - output);
      simd::PackTransposedPanels(
          {dy + row * d_.outputs + output, d_.outputs, std::min(kAmxBlock, part.rows - row), depth},
          panels_ + output * blocks * kAmxBlock + row * Whole(depth));
    });
  }

  void Multiply(const Part& part, BFloat16* dx) const {
    eigen::ParallelFor(d_.inputs, kAmxBlock, [&](std::int64_t input, std::int64_t) {
      const simd::AmxSession session;
      for (std::int64_t output = 0; output < part.outputs; output += kDepth) {
        MultiplyPanel(part, input, output);
      }
      if (part.output + part.outputs == d_.outputs) Write(part, input, dx);
    });
  }

  // Tiles of 32 inputs and a panel's outputs; the last of them may be half a tile.
  simd::AmxRows TilesOf(std::int64_t input, std::int64_t output) const {
    const std::int64_t step = Whole(d_.inputs) * simd::kTileOutputs;
    const std::int64_t end = (d_.outputs + simd::kTileOutputs - 1) / simd::kTileOutputs;
    const std::int64_t tile = output / simd::kTileOutputs;
    if (input >= d_.inputs || tile >= end) return {};
    return {weight_ + tile * step + input * simd::kTileOutputs, step,
            std::min(kDepth / simd::kTileOutputs, end - tile), simd::kTileSize};
  }

  void MultiplyPanel(const Part& part, std::int64_t input, std::int64_t output) const {
    alignas(64) BFloat16 panel[kDepth * kAmxBlock];
    const std::int64_t rows = Whole(part.rows), depth = std::min(kDepth, part.outputs - output);
    const simd::AmxRows tiles = TilesOf(input, part.output + output);
    const bool last = output + kDepth >= part.outputs;
    const simd::AmxRows soon = last ? TilesOf(input + kAmxBlock, part.output)
                                    : TilesOf(input, part.output + output + kDepth);
    simd::UnpackTiles(tiles.data, tiles.row, Whole(depth), panel);
    simd::MultiplyPanels({panel, panels_ + output * rows, Whole(depth), sums_ + input * rows, rows,
                          kAmxBlock, rows, part.output + output > 0, soon});
  }

  void Write(const Part& part, std::int64_t input, BFloat16* dx) const {
    alignas(64) std::array<float, kAmxBlock> ones;
    ones.fill(1.0f);
    const std::int64_t rows = Whole(part.rows);
    for (std::int64_t row = 0; row < part.rows; row += kAmxBlock) {
      simd::WriteTransposed(
          {sums_ + input * rows + row, rows, ones.data(), std::min(kAmxBlock, part.rows - row),
           std::min(kAmxBlock, d_.inputs - input), dx + row * d_.inputs + input, d_.inputs});
    }
  }

  PackedLinearDescription d_;
  std::int64_t rows_;         // at a time, whole blocks
  std::int64_t outputs_;      // at a time, whole panels
  std::int64_t packed_size_;  // elements of all panels
  // Run() sets these.
  const BFloat16* weight_ = nullptr;
  BFloat16* panels_ = nullptr;
  float* sums_ = nullptr;
};

}  // namespace

std::unique_ptr<Operation> MakeDataGradient(const PackedLinearDescription& d) {
  if (!simd::HasAmxBf16() || !IsPackedInTiles(d.inputs, d.outputs)) return nullptr;
  return std::make_unique<DataGradient>(d);
}

// With as many outputs as a vocabulary has, oneDNN's inner product is slow (256 x 768 x 50304: 570
// instead of 1,650 GFLOP/s, 256 x 512 x 8192: 1,220 instead of 1,540); else it is as good or better
// (128 x 384 x 8192: 1,140 instead of 1,050, 256 x 256 x 8192: 1,250 instead of 1,080).
bool DataGradientPays(const PackedLinearDescription& d) {
  return d.outputs >= 8192 && d.inputs >= 512 && d.rows >= 128;
}

}  // namespace frugal::onednn
