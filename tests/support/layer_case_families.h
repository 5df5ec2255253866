#pragma once

#include <vector>

#include "tests/support/layer_case.h"

namespace frugal::testing {

// Parts of LayerCases().
std::vector<LayerCase> WindowLayerCases();    // convolutions of other ranks, transposed, upsample
std::vector<LayerCase> SequenceLayerCases();  // sequences, and rms norm
std::vector<LayerCase> TransformerLayerCases();

template <class LayerType, class... Arguments>
std::function<std::unique_ptr<Layer>()> Maker(const Arguments&... arguments) {
  return [=] { return std::make_unique<LayerType>(arguments...); };
}

}  // namespace frugal::testing
