#include "layers/layer_scale.h"

#include "layers/input_check.h"
#include "layers/types/row.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal {

LayerScale::LayerScale(std::int64_t features, const LayerScaleOptions& options)
    : weight_(AddParameter("weight", {features}, Initializer::Constant(options.start))) {}

std::string LayerScale::Describe() const {
  return "layer_scale " + std::to_string(weight_.shape[0]) + " features";
}

Var LayerScale::Forward(Context& context, const Var& input) {
  CheckWidth(context, "layer scale", weight_.shape[0], input);
  return Arithmetic(context, BinaryKind::kMultiply, input, ValueOf(context, weight_));
}

LayerType LayerScaleType() {
  return RowOf<LayerScaleOptions>(
      "layer_scale",
      {MakeField("start", &LayerScaleOptions::start, "What every weight starts at.")},
      OfFeatures<LayerScale>);
}

}  // namespace frugal
