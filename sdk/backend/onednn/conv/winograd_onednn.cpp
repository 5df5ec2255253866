#include "sdk/backend/onednn/conv/winograd_onednn.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/conv/winograd_tiles.h"
#include "sdk/backend/onednn/primitive/library_error.h"
#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {
namespace {

constexpr std::int64_t kLeastTiles = 64;  // of 4 x 4 outputs, taken at a time

std::unique_ptr<Operation> MakePart(ConvDescription d, std::int64_t samples, bool accumulate) {
  d.geometry.window.batch = samples;
  d.accumulate = accumulate;
  try {
    return MakeOperation(MakeWinogradRecipe(d));
  } catch (const dnnl::error& error) {
    ThrowIfOutOfMemory(error);
    return nullptr;
  }
}

// A convolution over its samples part by part.
class WinogradOneDnn final : public Operation {
 public:
  // Null parts where oneDNN has none. A weight's gradient adds up from the second part on.
  WinogradOneDnn(const ConvDescription& d, std::int64_t samples)
      : d_(d), samples_(samples), first_(MakePart(d, samples, d.accumulate)) {
    if (first_ == nullptr) return;
    const std::int64_t batch = d.geometry.window.batch, rest = batch % samples;
    const bool add = d.accumulate || d.pass == Pass::kBackwardWeight;
    if (add != d.accumulate && batch >= 2 * samples) {
      next_ = MakePart(d, samples, add);
      complete_ = next_ != nullptr;
    }
    if (rest == 0) return;
    last_ = MakePart(d, rest, add);
    complete_ = complete_ && last_ != nullptr;
  }

  bool IsThere() const { return first_ != nullptr && complete_; }

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
      PartAt(sample).Run(
          {at(Slot::kSource), at(Slot::kWeight), at(Slot::kBias), at(Slot::kDestination),
           at(Slot::kSourceGradient), at(Slot::kWeightGradient), at(Slot::kBiasGradient),
           at(Slot::kDestinationGradient)},
          scratch);
    }
  }

 private:
  Operation& PartAt(std::int64_t sample) const {
    if (d_.geometry.window.batch - sample < samples_) return *last_;
    return sample > 0 && next_ != nullptr ? *next_ : *first_;
  }

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
  bool complete_ = true;
  std::unique_ptr<Operation> first_, last_;
  std::unique_ptr<Operation> next_;  // where it is another than the first
};

}  // namespace

bool HasWinogradOneDnn() {
  return kHasWinogradOneDnn && simd::BestInstructionSet() == simd::InstructionSet::kAvx512;
}

std::int64_t WinogradOneDnnScratch(const ConvGeometry& g) {
  constexpr std::int64_t kMost = 32 << 20;
  return std::min(kMost, 2 * ActivationBytes(g));
}

std::unique_ptr<Operation> MakeWinogradOneDnn(const ConvDescription& d, std::int64_t most_scratch) {
  constexpr std::int64_t kLeastChannels = 64;
  if (!SuitsWinograd(d, kLeastChannels, kLeastTiles)) return nullptr;
  const WindowGeometry& w = d.geometry.window;
  const std::int64_t tiles = WinogradTiles(w).count() / w.batch;
  for (std::int64_t samples = w.batch; samples * tiles >= kLeastTiles;
       samples = (samples + 1) / 2) {
    auto operation = std::make_unique<WinogradOneDnn>(d, samples);
    if (!operation->IsThere()) return nullptr;
    if (operation->ScratchBytes() <= most_scratch) return operation;
    if (samples == 1) break;
  }
  return nullptr;
}

}  // namespace frugal::onednn
