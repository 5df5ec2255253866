#include "sdk/capture/calls/all_calls.h"

#include <array>

#include "sdk/capture/calls/adaptive_calls.h"
#include "sdk/capture/calls/array_calls.h"
#include "sdk/capture/calls/attention_calls.h"
#include "sdk/capture/calls/conv_calls.h"
#include "sdk/capture/calls/elementwise_calls.h"
#include "sdk/capture/calls/loss_calls.h"
#include "sdk/capture/calls/modulation_calls.h"
#include "sdk/capture/calls/norm_calls.h"
#include "sdk/capture/calls/optimizer_calls.h"
#include "sdk/capture/calls/pool_calls.h"
#include "sdk/capture/calls/product_calls.h"
#include "sdk/capture/calls/resample_calls.h"
#include "sdk/capture/calls/sequence_calls.h"

namespace frugal {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Call> (*make)();
};

template <class T>
constexpr Row RowOf() {
  return {T::kName, []() -> std::unique_ptr<Call> { return std::make_unique<T>(); }};
}

constexpr auto kRows = std::to_array<Row>({
    RowOf<LinearForwardCall>(),
    RowOf<LinearBackwardDataCall>(),
    RowOf<LinearBackwardWeightCall>(),
    RowOf<ConvForwardCall>(),
    RowOf<ConvBackwardDataCall>(),
    RowOf<ConvBackwardWeightCall>(),
    RowOf<PoolMaxForwardCall>(),
    RowOf<PoolMaxBackwardCall>(),
    RowOf<PoolAverageForwardCall>(),
    RowOf<PoolAverageBackwardCall>(),
    RowOf<PoolAdaptiveForwardCall>(),
    RowOf<PoolAdaptiveBackwardCall>(),
    RowOf<NormLayerForwardCall>(),
    RowOf<NormLayerBackwardCall>(),
    RowOf<NormGroupForwardCall>(),
    RowOf<NormGroupNormalizeCall>(),
    RowOf<NormGroupBackwardCall>(),
    RowOf<NormBatchForwardCall>(),
    RowOf<NormBatchNormalizeCall>(),
    RowOf<NormBatchInferenceCall>(),
    RowOf<NormBatchBackwardCall>(),
    RowOf<NormBatchInferenceBackwardCall>(),
    RowOf<NormUpdateRunningCall>(),
    RowOf<ActivationForwardCall>(),
    RowOf<ActivationBackwardCall>(),
    RowOf<AddCall>(),
    RowOf<ScaleCall>(),
    RowOf<FillCall>(),
    RowOf<CopyCall>(),
    RowOf<DropoutCall>(),
    RowOf<PermuteCall>(),
    RowOf<SoftmaxForwardCall>(),
    RowOf<SoftmaxBackwardCall>(),
    RowOf<CrossEntropyForwardCall>(),
    RowOf<CrossEntropyBackwardCall>(),
    RowOf<CrossEntropyInPlaceCall>(),
    RowOf<WeightedCrossEntropyForwardCall>(),
    RowOf<WeightedCrossEntropyBackwardCall>(),
    RowOf<RowLossForwardCall>(),
    RowOf<RowLossBackwardCall>(),
    RowOf<CtcForwardCall>(),
    RowOf<CtcBackwardCall>(),
    RowOf<RegressionForwardCall>(),
    RowOf<RegressionBackwardCall>(),
    RowOf<RegressionTargetBackwardCall>(),
    RowOf<CountCorrectCall>(),
    RowOf<SgdCall>(),
    RowOf<AdamCall>(),
    RowOf<SumOfSquaresCall>(),
    RowOf<RmsPropCall>(),
    RowOf<AdagradCall>(),
    RowOf<AdadeltaCall>(),
    RowOf<NAdamCall>(),
    RowOf<RAdamCall>(),
    RowOf<AdamaxCall>(),
    RowOf<CopyStridedCall>(),
    RowOf<BinaryCall>(),
    RowOf<UnaryForwardCall>(),
    RowOf<UnaryBackwardCall>(),
    RowOf<SelectCall>(),
    RowOf<SumToCall>(),
    RowOf<BatchedProductCall>(),
    RowOf<GatherCall>(),
    RowOf<ScatterAddCall>(),
    RowOf<ResampleNearestForwardCall>(),
    RowOf<ResampleNearestBackwardCall>(),
    RowOf<ResampleBilinearForwardCall>(),
    RowOf<ResampleBilinearBackwardCall>(),
    RowOf<RotateCall>(),
    RowOf<SineCosineCall>(),
    RowOf<SineCosineBackwardCall>(),
    RowOf<RotateByCall>(),
    RowOf<RotateByBackwardAnglesCall>(),
    RowOf<GatedForwardCall>(),
    RowOf<GatedBackwardCall>(),
    RowOf<RmsForwardCall>(),
    RowOf<RmsBackwardCall>(),
    RowOf<LstmForwardCall>(),
    RowOf<LstmBackwardCall>(),
    RowOf<GruForwardCall>(),
    RowOf<GruBackwardCall>(),
    RowOf<AttentionForwardCall>(),
    RowOf<AttentionBackwardCall>(),
    RowOf<ModulateCall>(),
    RowOf<ModulateBackwardCall>(),
    RowOf<GatedAddCall>(),
    RowOf<GatedAddBackwardCall>(),
    RowOf<ModulationLayerForwardCall>(),
    RowOf<ModulationLayerBackwardCall>(),
});

}  // namespace

std::vector<std::string_view> CallNames() {
  std::vector<std::string_view> names;
  names.reserve(kRows.size());
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

std::unique_ptr<Call> MakeCall(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.make();
  }
  return nullptr;
}

}  // namespace frugal
