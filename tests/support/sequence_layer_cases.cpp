#include "layers/layer_scale.h"
#include "layers/norms.h"
#include "layers/recurrent.h"
#include "layers/sequence_layers.h"
#include "tests/support/layer_case_families.h"

namespace frugal::testing {

std::vector<LayerCase> SequenceLayerCases() {
  const Shape sequence = {3, 5, 4};
  const auto pool = [](SequencePooling mode) {
    return Maker<SequencePoolLayer>(SequencePoolOptions{.mode = mode});
  };
  const auto recurrent = [](RecurrentKind kind, const RecurrentOptions& options) {
    return Maker<RecurrentLayer>(kind, 4, options);
  };
  return {
      {"rms_norm", sequence, sequence, 4, Maker<RmsNormLayer>(4, RmsNormOptions{})},
      {"rms_norm plain", {3, 7}, {3, 7}, 0, Maker<RmsNormLayer>(7, RmsNormOptions{1e-5, false})},
      {"layer_scale", sequence, sequence, 4, Maker<LayerScale>(4, LayerScaleOptions{0.5})},
      {"lstm", sequence, {3, 5, 6}, 288, recurrent(RecurrentKind::kLstm, {.units = 6})},
      {"lstm, no bias",
       {2, 1, 4},
       {2, 1, 3},
       84,
       recurrent(RecurrentKind::kLstm, {.units = 3, .bias = false})},
      {"gru", sequence, {3, 5, 6}, 216, recurrent(RecurrentKind::kGru, {.units = 6})},
      {"gru, no bias",
       sequence,
       {3, 5, 5},
       135,
       recurrent(RecurrentKind::kGru, {.units = 5, .bias = false})},
      {"to_sequence", {3, 6, 5, 4}, {3, 30, 4}, 0, Maker<ToSequenceLayer>()},
      {"sequence_pool mean", sequence, {3, 4}, 0, pool(SequencePooling::kMean)},
      {"sequence_pool first", sequence, {3, 4}, 0, pool(SequencePooling::kFirst)},
      {"sequence_pool last", sequence, {3, 4}, 0, pool(SequencePooling::kLast)},
  };
}

}  // namespace frugal::testing
