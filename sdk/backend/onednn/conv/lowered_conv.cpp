#include "sdk/backend/onednn/conv/lowered_conv.h"

#include <algorithm>
#include <array>
#include <variant>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/conv/im2col.h"
#include "sdk/backend/onednn/gemm/blocked_gemm.h"
#include "sdk/backend/onednn/operation/separate_activation.h"
#include "sdk/memory/allocator.h"

namespace frugal::onednn {
namespace {

// Bytes of the matrix that are there together, and the least rows.
constexpr std::int64_t kMostBytes = std::int64_t{4} << 20, kLeastRows = 64;

// Sums of the columns of a matrix [rows, columns], in the order of the rows; they are added to
// what is there, or overwrite it.
void SumRows(const float* matrix, std::int64_t rows, std::int64_t columns, bool accumulate,
             float* sums) {
  constexpr std::int64_t kTogether = 16;
  eigen::ParallelFor(columns, kTogether, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kTogether> sum{};
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* const from = matrix + row * columns + begin;
      for (std::int64_t i = 0; i < end - begin; ++i) sum[static_cast<std::size_t>(i)] += from[i];
    }
    for (std::int64_t i = 0; i < end - begin; ++i) {
      const auto value = static_cast<float>(sum[static_cast<std::size_t>(i)]);
      sums[begin + i] = accumulate ? sums[begin + i] + value : value;
    }
  });
}

class LoweredConv final : public Operation {
 public:
  explicit LoweredConv(const ConvDescription& d)
      : d_(d), windows_(d.geometry), outputs_(d.geometry.output_channels), rows_(RowsAtOnce()) {}

  // [rows of the matrix][zeros, or what falls off the edges][the product's own]
  std::int64_t ScratchBytes() const override { return MatrixBytes() + EdgeBytes() + GemmBytes(); }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const auto data = [&](Slot slot) { return static_cast<float*>(DataOf(arguments, slot)); };
    matrix_ = static_cast<float*>(scratch);
    edge_ = matrix_ + MatrixBytes() / 4;
    gemm_ = edge_ + EdgeBytes() / 4;
    std::fill_n(edge_, windows_.IsInput() ? 0 : windows_.channels(), 0.0f);
    switch (d_.pass) {
      case Pass::kForward:
        return Forward(data(Slot::kSource), data(Slot::kWeight),
                       d_.bias ? data(Slot::kBias) : nullptr, data(Slot::kDestination));
      case Pass::kBackwardData:
        return BackwardData(data(Slot::kDestinationGradient), data(Slot::kWeight),
                            data(Slot::kSourceGradient));
      case Pass::kBackwardWeight:
        BackwardWeight(data(Slot::kDestinationGradient), data(Slot::kSource),
                       data(Slot::kWeightGradient));
        if (d_.bias) {
          SumRows(data(Slot::kDestinationGradient), windows_.rows(), outputs_, d_.accumulate,
                  data(Slot::kBiasGradient));
        }
    }
  }

 private:
  struct Part {
    std::int64_t first, count;
  };

  // About the same number each time.
  std::int64_t RowsAtOnce() const {
    if (windows_.IsInput()) return windows_.rows();
    const std::int64_t most = std::max(kLeastRows, kMostBytes / (4 * windows_.columns()));
    const std::int64_t parts = (windows_.rows() + most - 1) / most;
    return (windows_.rows() + parts - 1) / parts;
  }

  template <class Body>
  void ForParts(const Body& body) const {
    for (std::int64_t row = 0; row < windows_.rows(); row += rows_) {
      body(Part{row, std::min(rows_, windows_.rows() - row)});
    }
  }

  // A product over so many rows of the matrix, without data.
  Gemm GemmOf(std::int64_t rows) const {
    const std::int64_t width = windows_.columns();
    switch (d_.pass) {
      case Pass::kForward:
        return {'N', 'T', rows, outputs_, width, nullptr, width, nullptr, width};
      case Pass::kBackwardData:
        return {'N', 'N', rows, width, outputs_, nullptr, outputs_, nullptr, width};
      case Pass::kBackwardWeight:
        break;
    }
    return {'T', 'N', outputs_, width, rows, nullptr, outputs_, nullptr, width};
  }

  std::int64_t MatrixBytes() const {
    return windows_.IsInput() ? 0 : RoundUpToAlignment(4 * rows_ * windows_.columns());
  }
  std::int64_t EdgeBytes() const {
    return windows_.IsInput() ? 0 : RoundUpToAlignment(4 * windows_.channels());
  }
  std::int64_t GemmBytes() const {
    std::int64_t bytes = 0;
    ForParts([&](const Part& part) {
      bytes = std::max(bytes, BlockedGemm(GemmOf(part.count)).ScratchBytes());
    });
    return bytes;
  }

  void MultiplyPart(const Part& part, const float* a, const float* b,
                    const GemmTarget& target) const {
    Gemm gemm = GemmOf(part.count);
    gemm.a = a;
    gemm.b = b;
    BlockedGemm(gemm).Run(gemm, target, gemm_);
  }

  // Returns rows of the matrix of an input.
  const float* Gathered(const float* x, const Part& part) const {
    if (windows_.IsInput()) return x;
    windows_.Gather(x, part.first, part.count, edge_, matrix_);
    return matrix_;
  }

  void Forward(const float* x, const float* weight, const float* bias, float* y) const {
    ForParts([&](const Part& part) {
      MultiplyPart(part, Gathered(x, part), weight, {.c = y + part.first * outputs_, .bias = bias});
    });
  }

  void BackwardData(const float* dy, const float* weight, float* dx) const {
    const WindowGeometry& w = d_.geometry.window;
    if (!windows_.IsInput()) {
      eigen::ParallelFor(
          w.batch * w.InputSize() * windows_.channels(), eigen::kChunk,
          [&](std::int64_t begin, std::int64_t end) { std::fill(dx + begin, dx + end, 0.0f); });
    }
    ForParts([&](const Part& part) {
      float* const to = windows_.IsInput() ? dx : matrix_;
      MultiplyPart(part, dy + part.first * outputs_, weight, {.c = to});
      if (to == matrix_) windows_.Scatter(matrix_, part.first, part.count, edge_, dx);
    });
  }

  void BackwardWeight(const float* dy, const float* x, float* dweight) const {
    ForParts([&](const Part& part) {
      const bool adds = d_.accumulate || part.first > 0;
      MultiplyPart(part, dy + part.first * outputs_, Gathered(x, part),
                   {.c = dweight, .addend = adds ? dweight : nullptr});
    });
  }

  ConvDescription d_;
  Im2col windows_;
  std::int64_t outputs_;
  std::int64_t rows_;  // of the matrix, at a time
  // Run() sets these.
  float* matrix_ = nullptr;
  float* edge_ = nullptr;
  float* gemm_ = nullptr;
};

}  // namespace

// Gathering an element of the matrix takes as long for few output channels as for many, adding one
// back longer, and a product with it grows with them. A weight's gradient that oneDNN copies into
// place takes longer than either.
bool LoweredConvPays(const ConvDescription& d) {
  constexpr std::int64_t kLeastChannels = 64, kFewPositions = 512;
  const ConvGeometry& g = d.geometry;
  const WindowGeometry& w = g.window;
  const std::int64_t inputs = g.input_channels, outputs = g.output_channels;
  const std::int64_t places = w.KernelSize(), positions = w.batch * w.OutputSize();
  const bool known = d.dtype == DType::kF32 && g.groups == 1 && (places == 1 || places == 9) &&
                     simd::BestInstructionSet() == simd::InstructionSet::kAvx2;
  if (!known || std::min(inputs, outputs) < kLeastChannels) return false;
  if (d.pass == Pass::kBackwardWeight) {
    return places > 1 || positions >= kFewPositions || outputs >= 512;
  }
  const bool steps = std::ranges::max(w.stride) > 1;
  const bool forward = d.pass == Pass::kForward;
  if (places == 1) {
    if (steps) return false;
    return forward ? positions < outputs : positions <= kFewPositions || inputs >= 4 * outputs;
  }
  if (!forward) return outputs >= (steps ? 256 : 512);
  return outputs >= 256 || (steps && outputs >= 128 && positions >= kFewPositions);
}

bool LoweredConvBeatsWinograd(const ConvDescription& d) {
  const ConvGeometry& g = d.geometry;
  const std::int64_t positions = g.window.batch * g.window.OutputSize();
  return LoweredConvPays(d) && positions < std::min(g.input_channels, g.output_channels);
}

std::unique_ptr<Operation> MakeLoweredConv(const ConvDescription& d) {
  if (d.dtype != DType::kF32 || d.geometry.groups != 1 ||
      d.geometry.window.KernelSize() > kMostPlaces ||
      simd::BestInstructionSet() == simd::InstructionSet::kBaseline) {
    return nullptr;
  }
  return WithActivationBehind(d, [](const Description& without) -> std::unique_ptr<Operation> {
    return std::make_unique<LoweredConv>(std::get<ConvDescription>(without));
  });
}

}  // namespace frugal::onednn
