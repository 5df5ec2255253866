#include "sdk/backend/onednn/conv/winograd.h"

#include <algorithm>
#include <array>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/conv/winograd_tiles.h"
#include "sdk/core/threads.h"

namespace frugal::onednn {
namespace {

using simd::kWinogradPoints;
using simd::Panels;

constexpr std::int64_t kMostFilters = std::int64_t{10} << 20;  // bytes, transformed

// How much is done at a time.
struct Cut {
  std::int64_t outputs = 0;  // channels of the result, whose filters are there together
  std::int64_t tiles = 0;    // of a thread
};

// Channels of x and y here are those of the pass: an input's gradient is a convolution of the
// output's gradient with transposed filters.
class WinogradConvolution final : public Operation {
 public:
  WinogradConvolution(const ConvDescription& d, const Cut& cut)
      : d_(d),
        forward_(d.pass == Pass::kForward),
        inputs_(forward_ ? d.geometry.input_channels : d.geometry.output_channels),
        outputs_(forward_ ? d.geometry.output_channels : d.geometry.input_channels),
        tiles_(d.geometry.window),
        cut_(cut) {}

  // [filters][zeros beyond the edges][for each thread: inputs, products, what falls off the edges]
  std::int64_t ScratchBytes() const override {
    return 4 * (FilterSize() + inputs_ + ThreadCount() * ThreadSize());
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    x_ = static_cast<const float*>(
        DataOf(arguments, forward_ ? Slot::kSource : Slot::kDestinationGradient));
    y_ = static_cast<float*>(
        DataOf(arguments, forward_ ? Slot::kDestination : Slot::kSourceGradient));
    bias_ = d_.bias ? static_cast<const float*>(DataOf(arguments, Slot::kBias)) : nullptr;
    auto* const weight = static_cast<float*>(DataOf(arguments, Slot::kWeight));
    filters_ = static_cast<float*>(scratch);
    zeros_ = filters_ + FilterSize();
    std::fill_n(zeros_, inputs_, 0.0f);
    for (std::int64_t first = 0; first < outputs_; first += cut_.outputs) {
      const Panels filters = FiltersOf(std::min(cut_.outputs, outputs_ - first));
      TransformFilters(weight, first, filters);
      const std::int64_t blocks = BlockCount(), size = (tiles_.count() + blocks - 1) / blocks;
      eigen::ParallelFor(tiles_.count(), size, [&](std::int64_t begin, std::int64_t end) {
        Filter(begin, end, first, filters);
      });
    }
  }

 private:
  // As many for each thread.
  std::int64_t BlockCount() const {
    const std::int64_t threads = ThreadCount();
    const std::int64_t blocks = (tiles_.count() + cut_.tiles - 1) / cut_.tiles;
    return (blocks + threads - 1) / threads * threads;
  }

  Panels FiltersOf(std::int64_t outputs) const {
    return {filters_, inputs_, outputs, loops_.panel, inputs_ * outputs + kWinogradGap};
  }
  std::int64_t FilterSize() const {
    return kWinogradPoints * (inputs_ * cut_.outputs + kWinogradGap);
  }
  std::int64_t ThreadSize() const {
    return kWinogradPoints * (cut_.tiles * (inputs_ + cut_.outputs) + 2 * kWinogradGap) +
           cut_.outputs;
  }

  void TransformFilters(float* weight, std::int64_t first, const Panels& filters) const {
    // weight [out, in, 3, 3]: the result's channels are those of the first axis going forward.
    const std::int64_t by_output = 9 * (forward_ ? inputs_ : 1);
    const std::int64_t by_input = 9 * (forward_ ? 1 : outputs_);
    eigen::ParallelFor(inputs_, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t input = begin; input < end; ++input) {
        float* const from = weight + input * by_input + first * by_output;
        loops_.transform_filters({from, by_output}, !forward_, input, filters);
      }
    });
  }

  // Tiles [begin, end), to channels `first` and on of the result.
  void Filter(std::int64_t begin, std::int64_t end, std::int64_t first,
              const Panels& filters) const {
    const std::int64_t rows = end - begin, outputs = filters.channels;
    float* const space = zeros_ + inputs_ + ThreadNumber() * ThreadSize();
    const Panels inputs{space, rows, inputs_, inputs_, rows * inputs_ + kWinogradGap};
    const Panels products{space + kWinogradPoints * inputs.place, rows, outputs, outputs,
                          rows * outputs + kWinogradGap};
    std::array<const float*, kWinogradPoints> pixels;
    for (std::int64_t row = 0; row < rows; ++row) {
      tiles_.FindInputs<const float>(x_, inputs_, begin + row, zeros_, pixels);
      loops_.transform_inputs(pixels.data(), row, inputs);
    }
    for (std::int64_t place = 0; place < kWinogradPoints; ++place) {
      Multiply(inputs, filters, place, products);
    }
    std::array<float*, simd::kTilePixels> to;
    const float* const bias = bias_ == nullptr ? nullptr : bias_ + first;
    float* const outside = products.data + kWinogradPoints * products.place;
    const bool relu = d_.epilogue.activation == Activation::kRelu;
    for (std::int64_t row = 0; row < rows; ++row) {
      tiles_.FindOutputs(y_ + first, outputs_, begin + row, outside, to);
      loops_.transform_outputs(products, row, bias, relu, to.data());
    }
  }

  void Multiply(const Panels& inputs, const Panels& filters, std::int64_t place,
                const Panels& products) const {
    for (std::int64_t first = 0; first < filters.channels; first += filters.width) {
      const std::int64_t width = filters.WidthAt(first);
      loops_.product({.a = inputs.Panel(place, 0),
                      .a_row = inputs_,
                      .a_step = 1,
                      .b = filters.Panel(place, first),
                      .b_row = width,
                      .c = products.Panel(place, 0) + first,
                      .c_row = products.channels,
                      .rows = inputs.rows,
                      .columns = width,
                      .depth = inputs_,
                      .accumulate = false});
    }
  }

  ConvDescription d_;
  bool forward_;
  std::int64_t inputs_, outputs_;
  WinogradTiles tiles_;
  Cut cut_;
  const simd::WinogradLoops& loops_ = simd::SelectWinogradLoops();
  // Run() sets these.
  const float* x_ = nullptr;
  float* y_ = nullptr;
  const float* bias_ = nullptr;
  float* filters_ = nullptr;
  float* zeros_ = nullptr;
};

std::unique_ptr<Operation> MakeProducts(const ConvDescription& d, std::int64_t most_scratch) {
  const Activation activation = d.epilogue.activation;
  if (activation != Activation::kIdentity && activation != Activation::kRelu) return nullptr;
  const bool forward = d.pass == Pass::kForward;
  const ConvGeometry& g = d.geometry;
  const std::int64_t inputs = forward ? g.input_channels : g.output_channels;
  const std::int64_t outputs = forward ? g.output_channels : g.input_channels;
  for (std::int64_t at_once = outputs; at_once >= kLeastOutputs; at_once = HalfOf(at_once)) {
    if (4 * kWinogradPoints * at_once * inputs > kMostFilters) continue;
    for (const std::int64_t tiles : {48, 24, 12}) {
      auto operation = std::make_unique<WinogradConvolution>(d, Cut{at_once, tiles});
      if (operation->ScratchBytes() <= most_scratch) return operation;
    }
  }
  return nullptr;
}

}  // namespace

std::int64_t WinogradScratch(const ConvGeometry& g) {
  constexpr std::int64_t kMost = 32 << 20;
  const std::int64_t filters = 4 * kWinogradPoints * g.input_channels * g.output_channels;
  return std::min(kMost, 2 * ActivationBytes(g) + filters);
}

std::unique_ptr<Operation> MakeWinograd(const ConvDescription& d, std::int64_t most_scratch) {
  constexpr std::int64_t kLeastChannels = 64, kLeastTiles = 32;
  if (!SuitsWinograd(d, kLeastChannels, kLeastTiles)) return nullptr;
  return d.pass == Pass::kBackwardWeight ? MakeWinogradWeightGradient(d, most_scratch)
                                         : MakeProducts(d, most_scratch);
}

}  // namespace frugal::onednn
