#include "sdk/backend/onednn/matmul/weight_packing.h"

#include <algorithm>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/primitive/packed_weight.h"
#include "sdk/backend/onednn/simd/amx/weight_tiles.h"

namespace frugal::onednn {
namespace {

using simd::kTileInputs;
using simd::kTileOutputs;
using simd::kTileSize;

std::int64_t Count(std::int64_t size, std::int64_t piece) { return (size + piece - 1) / piece; }

class WeightPacking final : public Operation {
 public:
  explicit WeightPacking(const PackDescription& d) : d_(d) {}

  std::int64_t ScratchBytes() const override { return 0; }

  // Tiles in the order in which the weight lies in memory.
  void Run(std::initializer_list<Argument> arguments, void* /*scratch*/) override {
    const auto* const from = static_cast<const float*>(DataOf(arguments, Slot::kSource));
    auto* const to = static_cast<BFloat16*>(DataOf(arguments, Slot::kDestination));
    const std::int64_t across = Count(d_.inputs, kTileInputs);
    const std::int64_t down = Count(d_.outputs, kTileOutputs);
    constexpr std::int64_t kPiece = 8;  // 64 KB of the weight
    eigen::ParallelFor(across * down, kPiece, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (d_.layout == WeightLayout::kOutIn) {
          PackOutIn(from, i % across * kTileInputs, i / across * kTileOutputs, to + i * kTileSize);
        } else {
          const std::int64_t tile = i % down * across + i / down;
          PackInOut(from, i / down * kTileInputs, i % down * kTileOutputs, to + tile * kTileSize);
        }
      }
      simd::FinishTiles();
    });
  }

 private:
  void PackOutIn(const float* from, std::int64_t input, std::int64_t output, BFloat16* tile) const {
    simd::PackTileOutIn(
        {from + output * d_.inputs + input, d_.inputs, std::min(kTileInputs, d_.inputs - input),
         std::min(kTileOutputs, d_.outputs - output)},
        tile);
  }
  void PackInOut(const float* from, std::int64_t input, std::int64_t output, BFloat16* tile) const {
    simd::PackTileInOut(
        {from + input * d_.outputs + output, d_.outputs, std::min(kTileInputs, d_.inputs - input),
         std::min(kTileOutputs, d_.outputs - output)},
        tile);
  }

  PackDescription d_;
};

}  // namespace

std::unique_ptr<Operation> MakeWeightPacking(const PackDescription& d) {
  if (!simd::HasAvx512Bf16() || !IsPackedInTiles(d.inputs, d.outputs)) return nullptr;
  return std::make_unique<WeightPacking>(d);
}

}  // namespace frugal::onednn
