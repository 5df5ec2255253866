#include "sdk/backend/onednn/winograd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sdk/backend/onednn/recipes.h"

namespace frugal::onednn {
namespace {

constexpr std::int64_t kLeastExtent = 8;  // smaller images are faster as they are
constexpr std::int64_t kLeastTiles = 64;  // of 4 x 4 outputs, taken at a time

std::unique_ptr<Operation> DescribePart(ConvDescription d, std::int64_t samples, bool accumulate) {
  d.geometry.window.batch = samples;
  d.accumulate = accumulate;
  try {
    return MakeOperation(MakeWinogradRecipe(d));
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return nullptr;
  }
}

// A convolution over its samples part by part.
class Winograd final : public Operation {
 public:
  // Null parts where oneDNN has none.
  Winograd(const ConvDescription& d, std::int64_t samples)
      : d_(d), samples_(samples), first_(DescribePart(d, samples, d.accumulate)) {
    if (first_ == nullptr) return;
    const std::int64_t batch = d.geometry.window.batch, rest = batch % samples;
    const bool add = d.accumulate || d.pass == Pass::kBackwardWeight;
    if (batch >= 2 * samples) next_ = DescribePart(d, samples, add);
    if (rest > 0) last_ = DescribePart(d, rest, add);
  }

  bool IsThere() const {
    const std::int64_t batch = d_.geometry.window.batch;
    return first_ != nullptr && (next_ != nullptr || batch < 2 * samples_) &&
           (last_ != nullptr || batch % samples_ == 0);
  }

  std::int64_t ScratchBytes() const override {
    std::int64_t bytes = 0;
    for (const auto* part : {&first_, &next_, &last_}) {
      if (*part != nullptr) bytes = std::max(bytes, (*part)->ScratchBytes());
    }
    return bytes;
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const std::int64_t batch = d_.geometry.window.batch;
    for (std::int64_t sample = 0; sample < batch; sample += samples_) {
      const auto at = [&](Slot slot) {
        return Argument{slot, At(slot, DataOf(arguments, slot), sample)};
      };
      Operation& part = sample == 0 ? *first_ : batch - sample < samples_ ? *last_ : *next_;
      part.Run({at(Slot::kSource), at(Slot::kWeight), at(Slot::kBias), at(Slot::kDestination),
                at(Slot::kSourceGradient), at(Slot::kWeightGradient), at(Slot::kBiasGradient),
                at(Slot::kDestinationGradient)},
               scratch);
    }
  }

 private:
  void* At(Slot slot, void* data, std::int64_t sample) const {
    const ConvGeometry& g = d_.geometry;
    const bool input = slot == Slot::kSource || slot == Slot::kSourceGradient;
    const bool output = slot == Slot::kDestination || slot == Slot::kDestinationGradient;
    if (data == nullptr || (!input && !output)) return data;
    const std::int64_t size =
        input ? g.window.InputSize() * g.input_channels : g.window.OutputSize() * g.output_channels;
    return static_cast<float*>(data) + sample * size;
  }

  ConvDescription d_;
  std::int64_t samples_;
  std::unique_ptr<Operation> first_, next_, last_;
};

std::int64_t TilesOf(const WindowGeometry& g) {
  return (g.output[1] + 3) / 4 * ((g.output[2] + 3) / 4);
}

// Tiles that reach far over the edge waste what they save.
bool IsCandidate(const ConvDescription& d) {
  const ConvGeometry& g = d.geometry;
  const WindowGeometry& w = g.window;
  constexpr Spatial kOnes{1, 1, 1}, kPadding{0, 1, 1};
  const bool covers = 12 * TilesOf(w) <= w.OutputSize() && w.output[1] >= kLeastExtent &&
                      w.output[2] >= kLeastExtent;
  return d.dtype == DType::kF32 && w.kernel == Spatial{1, 3, 3} && w.stride == kOnes &&
         w.dilation == kOnes && w.padding_begin == kPadding && w.padding_end == kPadding &&
         w.input[0] == 1 && w.output[0] == 1 && g.groups == 1 && g.input_channels % 16 == 0 &&
         g.output_channels % 16 == 0 && g.input_channels >= 64 && g.output_channels >= 64 &&
         covers && w.batch * TilesOf(w) >= kLeastTiles;
}

}  // namespace

std::int64_t WinogradScratch(const ConvGeometry& g) {
  constexpr std::int64_t kMost = 32 << 20, kTimes = 4;
  const WindowGeometry& w = g.window;
  const std::int64_t activations =
      4 * w.batch * (w.InputSize() * g.input_channels + w.OutputSize() * g.output_channels);
  return std::min(kMost, kTimes * activations);
}

std::unique_ptr<Operation> MakeWinograd(const ConvDescription& d, std::int64_t most_scratch) {
  if (!IsCandidate(d)) return nullptr;
  const WindowGeometry& w = d.geometry.window;
  for (std::int64_t samples = w.batch; samples * TilesOf(w) >= kLeastTiles;
       samples = (samples + 1) / 2) {
    auto operation = std::make_unique<Winograd>(d, samples);
    if (!operation->IsThere()) return nullptr;
    if (operation->ScratchBytes() <= most_scratch) return operation;
    if (samples == 1) break;
  }
  return nullptr;
}

}  // namespace frugal::onednn
