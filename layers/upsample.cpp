#include "layers/upsample.h"

#include "layers/types/row.h"
#include "presets/config/field_limits.h"
#include "sdk/core/error.h"

namespace frugal {

UpsampleLayer::UpsampleLayer(const UpsampleOptions& options) : options_(options) {
  if (options.factor >= 1) return;
  throw ConfigError({.where = "upsample",
                     .required = "factor is at least 1",
                     .given = "factor = " + std::to_string(options.factor),
                     .advice = "2 doubles height and width"});
}

std::string UpsampleLayer::Describe() const {
  return "upsample by " + std::to_string(options_.factor) +
         (options_.mode == Upsampling::kNearest ? ", nearest" : ", bilinear");
}

Var UpsampleLayer::Forward(Context& context, const Var& input) {
  return Upsample(context, input, options_.factor, options_.mode);
}

LayerType UpsampleType() {
  return RowOf<UpsampleOptions>(
      "upsample",
      {MakeField("factor", &UpsampleOptions::factor, "Height and width grow by it.",
                 {.min = 1, .max = kMostFactor}),
       MakeChoice("mode", &UpsampleOptions::mode, "How values between are found.",
                  {{"nearest", Upsampling::kNearest}, {"bilinear", Upsampling::kBilinear}})},
      OfOptions<UpsampleLayer>);
}

}  // namespace frugal
