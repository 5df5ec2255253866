#include "sdk/backend/onednn/conv/conv_weight_gradient.h"

#include <algorithm>
#include <array>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/conv/im2col_iterator.h"
#include "sdk/backend/onednn/simd/amx/panel_product.h"
#include "sdk/core/threads.h"

namespace frugal::onednn {
namespace {

using simd::kAmxBlock;
using simd::Whole;

// Elements of all panels of dy: 1 MB. More than 2048 outputs take more, for 256 positions at least.
constexpr std::int64_t kLeft = 512 << 10;
constexpr std::int64_t kMostRows = 2048;  // positions at a time: panels of 128 KB
constexpr std::int64_t kMostPanels = 4;   // of a piece

// The outputs' positions, in the inputs.
WindowGrid GridOf(const ConvGeometry& g) {
  return {g.window.output, g.window.stride, g.window.input, g.input_channels};
}

class ConvWeightGradient final : public Operation {
 public:
  explicit ConvWeightGradient(const ConvDescription& d)
      : d_(d),
        inputs_(d.geometry.input_channels),
        outputs_(d.geometry.output_channels),
        places_(d.geometry.window.KernelSize()),
        grid_(GridOf(d.geometry)),
        positions_(d.geometry.window.batch * d.geometry.window.OutputSize()),
        rows_(RowsAtOnce()) {}

  // [panels of dy][a panel of x for each thread][sums, where they lie in another order]
  std::int64_t ScratchBytes() const override {
    return 2 * (LeftSize() + ThreadCount() * simd::PanelSize(rows_)) +
           (places_ > 1 ? 4 * outputs_ * places_ * inputs_ : 0);
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    x_ = static_cast<const BFloat16*>(DataOf(arguments, Slot::kSource));
    dy_ = static_cast<const BFloat16*>(DataOf(arguments, Slot::kDestinationGradient));
    auto* const dweight = static_cast<float*>(DataOf(arguments, Slot::kWeightGradient));
    dbias_ = d_.bias ? static_cast<float*>(DataOf(arguments, Slot::kBiasGradient)) : nullptr;
    left_ = static_cast<BFloat16*>(scratch);
    right_ = left_ + LeftSize();
    auto* const sums = reinterpret_cast<float*>(right_ + ThreadCount() * simd::PanelSize(rows_));
    sums_ = places_ > 1 ? sums : dweight;
    for (std::int64_t row = 0; row < positions_; row += rows_) {
      const Part part{row, std::min(rows_, positions_ - row)};
      PackLeft(part);
      Multiply(part);
    }
    if (places_ > 1) TransposeGradient(dweight);
  }

 private:
  struct Part {
    std::int64_t row, count;
  };

  std::int64_t RowsAtOnce() const {
    const std::int64_t fit = kLeft / Whole(outputs_) / kAmxBlock * kAmxBlock;
    return std::min(Whole(positions_), std::clamp(fit, 8 * kAmxBlock, kMostRows));
  }
  std::int64_t LeftSize() const { return simd::WholeBlocks(outputs_) * simd::PanelSize(rows_); }

  void PackLeft(const Part& part) const {
    const std::int64_t panels = simd::WholeBlocks(outputs_);
    const std::int64_t piece = std::clamp<std::int64_t>(panels / 8, 1, kMostPanels) * kAmxBlock;
    eigen::ParallelFor(outputs_, piece, [&](std::int64_t begin, std::int64_t end) {
      const simd::AmxSession session;
      BFloat16* const to = left_ + begin / kAmxBlock * simd::PanelSize(part.count);
      simd::PackLeftPanels({dy_ + part.row * outputs_ + begin, outputs_, part.count, end - begin},
                           to);
      if (dbias_ == nullptr) return;
      simd::SumLeftPanels(
          {to, part.count, end - begin, dbias_ + begin, d_.accumulate || part.row > 0});
    });
  }

  // A piece is some blocks of channels at one place of the window.
  void Multiply(const Part& part) const {
    const std::int64_t blocks = simd::WholeBlocks(inputs_);
    const std::int64_t piece = blocks % 4 == 0 ? 4 : blocks % 2 == 0 ? 2 : 1;
    const std::int64_t across = blocks / piece;
    eigen::ParallelFor(places_ * across, 1, [&](std::int64_t i, std::int64_t) {
      const std::int64_t place = i / across, channel = i % across * piece * kAmxBlock;
      MultiplyPlace(part, place, channel, std::min(inputs_, channel + piece * kAmxBlock));
    });
  }

  void MultiplyPlace(const Part& part, std::int64_t place, std::int64_t channel,
                     std::int64_t end) const {
    const simd::AmxSession session;
    std::array<const BFloat16*, kMostRows> inputs;
    Im2colIterator windows(grid_, part.row);
    const Spatial offset = OffsetOfPlace(d_.geometry.window, place);
    for (std::int64_t i = 0; i < part.count; ++i, windows.Next()) {
      inputs[static_cast<std::size_t>(i)] = windows.Find(x_, offset);
    }
    BFloat16* const panel = right_ + ThreadNumber() * simd::PanelSize(rows_);
    for (; channel < end; channel += kAmxBlock) {
      const std::int64_t columns = std::min(kAmxBlock, inputs_ - channel);
      simd::GatherRightPanel({inputs.data(), part.count, channel, columns}, panel);
      simd::MultiplyPanels({.left = left_,
                            .right = panel,
                            .depth = part.count,
                            .c = sums_ + place * inputs_ + channel,
                            .c_row = places_ * inputs_,
                            .rows = outputs_,
                            .columns = columns,
                            .accumulate = part.row > 0 || (places_ == 1 && d_.accumulate)});
    }
  }

  // [outputs, places, inputs] into the weight's own order
  void TransposeGradient(float* dweight) const {
    const std::int64_t size = places_ * inputs_, piece = eigen::RowsPerChunk(size);
    eigen::ParallelFor(outputs_, piece, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t output = begin; output < end; ++output) {
        TransposeOutput(sums_ + output * size, dweight + output * size);
      }
    });
  }

  void TransposeOutput(const float* sums, float* to) const {
    for (std::int64_t input = 0; input < inputs_; ++input) {
      for (std::int64_t place = 0; place < places_; ++place, ++to) {
        const float sum = sums[place * inputs_ + input];
        *to = d_.accumulate ? *to + sum : sum;
      }
    }
  }

  ConvDescription d_;
  std::int64_t inputs_, outputs_, places_;
  WindowGrid grid_;
  std::int64_t positions_;
  std::int64_t rows_;  // positions at a time, whole blocks
  // Run() sets these.
  const BFloat16* x_ = nullptr;
  const BFloat16* dy_ = nullptr;
  float* dbias_ = nullptr;
  BFloat16* left_ = nullptr;
  BFloat16* right_ = nullptr;
  float* sums_ = nullptr;
};

}  // namespace

// Where windows lie side by side in long rows, oneDNN gathers nothing and is twice as fast at 64
// channels; with steps between them, short rows or single places, it is slow (512 -> 512 at 4 x 4:
// a fifth of this way's rate, 256 -> 512 by steps of 2: a ninth). bench_convolutions prints both.
bool ConvWeightGradientPays(const ConvGeometry& g) {
  const WindowGeometry& w = g.window;
  const bool slow = w.stride[2] > 1 || w.KernelSize() == 1 || w.output[2] <= 16;
  return slow && g.input_channels >= 64 && g.output_channels >= (w.KernelSize() == 1 ? 64 : 128);
}

std::unique_ptr<Operation> MakeConvWeightGradient(const ConvDescription& d) {
  const bool ours = d.pass == Pass::kBackwardWeight && d.dtype == DType::kBF16 &&
                    d.geometry.groups == 1 && simd::HasAmxBf16();
  return ours ? std::make_unique<ConvWeightGradient>(d) : nullptr;
}

}  // namespace frugal::onednn
