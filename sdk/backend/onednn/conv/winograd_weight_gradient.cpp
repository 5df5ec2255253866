#include <algorithm>
#include <array>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/conv/winograd.h"
#include "sdk/backend/onednn/conv/winograd_tiles.h"
#include "sdk/backend/onednn/operation/partial_rows.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::onednn {
namespace {

using simd::kWinogradPoints;
using simd::Panels;

constexpr std::int64_t kInputPanel = 48;  // channels: rows of a product, whole blocks of it
constexpr std::int64_t kMostTiles = 256;  // at a time
constexpr std::int64_t kLeastTiles = 64;  // so that sums stay in registers for long

// How much is done at a time.
struct Cut {
  std::int64_t outputs = 0;  // channels of dy, whose filters' gradients are there together
  std::int64_t tiles = 0;
};

class WinogradWeightGradient final : public Operation {
 public:
  WinogradWeightGradient(const ConvDescription& d, const Cut& cut)
      : d_(d),
        inputs_(d.geometry.input_channels),
        outputs_(d.geometry.output_channels),
        positions_(d.geometry.window.batch * d.geometry.window.OutputSize(), outputs_),
        tiles_(d.geometry.window),
        cut_{cut.outputs, std::min(cut.tiles, tiles_.count())} {}

  // [sums][inputs][gradients][zeros beyond the edges], or of the bias [sums of parts of dy]
  std::int64_t ScratchBytes() const override {
    const std::int64_t places = inputs_ * cut_.outputs + cut_.tiles * (inputs_ + cut_.outputs);
    const std::int64_t bytes =
        4 * (kWinogradPoints * (places + 3 * kWinogradGap) + std::max(inputs_, cut_.outputs));
    return std::max(bytes, d_.bias ? positions_.Bytes(1) : 0);
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    x_ = static_cast<const float*>(DataOf(arguments, Slot::kSource));
    dy_ = static_cast<const float*>(DataOf(arguments, Slot::kDestinationGradient));
    auto* const dweight = static_cast<float*>(DataOf(arguments, Slot::kWeightGradient));
    for (std::int64_t first = 0; first < outputs_; first += cut_.outputs) {
      const Panels sums = At(static_cast<float*>(scratch), inputs_,
                             std::min(cut_.outputs, outputs_ - first), loops_.panel);
      AddUp(first, sums);
      Finish(sums, dweight + first * 9 * inputs_);
    }
    if (d_.bias) {
      AddBias(static_cast<float*>(scratch),
              static_cast<float*>(DataOf(arguments, Slot::kBiasGradient)));
    }
  }

 private:
  static Panels At(float* data, std::int64_t rows, std::int64_t channels, std::int64_t width) {
    return {data, rows, channels, width, rows * channels + kWinogradGap};
  }
  static float* Behind(const Panels& panels) {
    return panels.data + kWinogradPoints * panels.place;
  }

  void AddUp(std::int64_t first, const Panels& sums) const {
    for (std::int64_t tile = 0; tile < tiles_.count(); tile += cut_.tiles) {
      const std::int64_t rows = std::min(cut_.tiles, tiles_.count() - tile);
      const Panels inputs = At(Behind(sums), rows, inputs_, kInputPanel);
      const Panels gradients = At(Behind(inputs), rows, sums.channels, loops_.panel);
      float* const zeros = Behind(gradients);
      std::fill_n(zeros, std::max(inputs_, cut_.outputs), 0.0f);
      eigen::ParallelFor(rows, 4, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          Transform(tile + row, row, first, zeros, inputs, gradients);
        }
      });
      eigen::ParallelFor(kWinogradPoints, 1, [&](std::int64_t place, std::int64_t) {
        Multiply(inputs, gradients, place, tile > 0, sums);
      });
    }
  }

  void Transform(std::int64_t tile, std::int64_t row, std::int64_t first, const float* zeros,
                 const Panels& inputs, const Panels& gradients) const {
    std::array<const float*, kWinogradPoints> pixels;
    tiles_.FindInputs(x_, inputs_, tile, zeros, pixels);
    loops_.transform_inputs(pixels.data(), row, inputs);
    std::array<const float*, simd::kTilePixels> outputs;
    tiles_.FindOutputs(dy_ + first, outputs_, tile, zeros, outputs);
    loops_.transform_gradients(outputs.data(), row, gradients);
  }

  void Multiply(const Panels& inputs, const Panels& gradients, std::int64_t place, bool accumulate,
                const Panels& sums) const {
    for (std::int64_t output = 0; output < gradients.channels; output += gradients.width) {
      const std::int64_t columns = gradients.WidthAt(output);
      for (std::int64_t input = 0; input < inputs.channels; input += inputs.width) {
        const std::int64_t width = inputs.WidthAt(input);
        loops_.product({.a = inputs.Panel(place, input),
                        .a_row = 1,
                        .a_step = width,
                        .b = gradients.Panel(place, output),
                        .b_row = columns,
                        .c = sums.Panel(place, output) + input * columns,
                        .c_row = columns,
                        .rows = width,
                        .columns = columns,
                        .depth = inputs.rows,
                        .accumulate = accumulate});
      }
    }
  }

  // dweight [out, in, 3, 3] from the first of the outputs on
  void Finish(const Panels& sums, float* dweight) const {
    eigen::ParallelFor(inputs_, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t input = begin; input < end; ++input) {
        loops_.transform_filter_gradients(sums, input, d_.accumulate,
                                          {dweight + input * 9, 9 * inputs_});
      }
    });
  }

  void AddBias(float* parts, float* dbias) const {
    const auto column_sums = simd::SelectLoops().f32.norm.column_sums;
    positions_.ForEach([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      column_sums(dy_ + begin * outputs_, end - begin, outputs_, parts + part * outputs_);
    });
    positions_.AddUp(parts, d_.accumulate, dbias);
  }

  ConvDescription d_;
  std::int64_t inputs_, outputs_;
  PartialRows positions_;
  WinogradTiles tiles_;
  Cut cut_;
  const simd::WinogradLoops& loops_ = simd::SelectWinogradLoops();
  // Run() sets these.
  const float* x_ = nullptr;
  const float* dy_ = nullptr;
};

}  // namespace

std::unique_ptr<Operation> MakeWinogradWeightGradient(const ConvDescription& d,
                                                      std::int64_t most_scratch) {
  for (std::int64_t outputs = d.geometry.output_channels; outputs >= kLeastOutputs;
       outputs = HalfOf(outputs)) {
    for (std::int64_t tiles = kMostTiles; tiles >= kLeastTiles; tiles /= 2) {
      auto operation = std::make_unique<WinogradWeightGradient>(d, Cut{outputs, tiles});
      if (operation->ScratchBytes() <= most_scratch) return operation;
    }
  }
  return nullptr;
}

}  // namespace frugal::onednn
