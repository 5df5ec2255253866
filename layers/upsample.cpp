#include "layers/upsample.h"

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

}  // namespace frugal
