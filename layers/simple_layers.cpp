#include "layers/simple_layers.h"

#include <cstdio>

#include "layers/types/row.h"
#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"

namespace frugal {
namespace {

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

Var ActivationLayer::Forward(Context& context, const Var& input) {
  return Activate(context, input, function_);
}

DropoutLayer::DropoutLayer(const DropoutOptions& options) : rate_(options.rate) {
  if (rate_ >= 0 && rate_ < 1) return;
  throw ConfigError({.where = "dropout",
                     .required = "rate is a probability in [0, 1)",
                     .given = "rate = " + Number(rate_),
                     .advice = "0.1 to 0.5 is usual"});
}

std::string DropoutLayer::Describe() const { return "dropout " + Number(rate_); }

Var DropoutLayer::Forward(Context& context, const Var& input) {
  return Dropout(context, input, rate_, path());
}

Var FlattenLayer::Forward(Context& context, const Var& input) { return Flatten(context, input); }

LayerType ActivationType() {
  return RowOf<ActivationOptions>(
      "activation", {ActivationField("function", &ActivationOptions::function, "Which function.")},
      OfOptions<ActivationLayer>);
}

LayerType DropoutType() {
  return RowOf<DropoutOptions>(
      "dropout",
      {MakeField("rate", &DropoutOptions::rate, "Probability that a value is dropped.",
                 {.min = 0, .max = 1, .max_exclusive = true})},
      OfOptions<DropoutLayer>);
}

LayerType FlattenType() { return RowOf<FlattenOptions>("flatten", {}, OfNothing<FlattenLayer>); }

}  // namespace frugal
