#include "layers/gated_feed_forward.h"

#include "layers/describe.h"
#include "layers/types/row.h"
#include "sdk/core/error.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/linear.h"

namespace frugal {

GatedFeedForward::GatedFeedForward(std::int64_t features, const GatedFeedForwardOptions& options,
                                   const GatedFeedForwardNames& names)
    : features_(features), options_(options) {
  if (options.hidden < 1) {
    throw ConfigError({.where = "gated_feed_forward",
                       .required = "hidden is at least 1",
                       .given = "hidden = " + std::to_string(options.hidden),
                       .advice = "e.g. 8/3 of the features, as Llama"});
  }
  gate_ = Add(names.gate, features, options.hidden);
  up_ = Add(names.up, features, options.hidden);
  down_ = Add(names.down, options.hidden, features);
}

GatedFeedForward::Affine GatedFeedForward::Add(const std::string& name, std::int64_t inputs,
                                               std::int64_t outputs) {
  Affine affine;
  affine.weight =
      &AddParameter(name + ".weight", {outputs, inputs}, Initializer::Normal(0, options_.init_std));
  if (options_.bias) affine.bias = &AddParameter(name + ".bias", {outputs}, Initializer::Zero());
  return affine;
}

std::string GatedFeedForward::Describe() const {
  return "gated feed-forward " + std::to_string(features_) + " -> " +
         std::to_string(options_.hidden) + " -> " + std::to_string(features_) +
         DescribeActivation(options_.activation);
}

Var GatedFeedForward::ForwardUpToProjection(Context& context, const Var& input) {
  const Var gate =
      Linear(context, input, *gate_.weight, gate_.bias, {.activation = options_.activation});
  const Var up = Linear(context, input, *up_.weight, up_.bias);
  return Arithmetic(context, BinaryKind::kMultiply, gate, up);
}

Var GatedFeedForward::Forward(Context& context, const Var& input) {
  return Linear(context, ForwardUpToProjection(context, input), *down_.weight, down_.bias);
}

LayerType GatedFeedForwardType() {
  using O = GatedFeedForwardOptions;
  return RowOf<GatedFeedForwardOptions>(
      "gated_feed_forward",
      {MakeField("hidden", &O::hidden, "Features inside.", SizeLimits(true)),
       ActivationField("activation", &O::activation, "Of the gate: silu is SwiGLU, gelu GEGLU."),
       MakeField("bias", &O::bias, "Whether the three products have biases.")},
      OfFeatures<GatedFeedForward>);
}

}  // namespace frugal
