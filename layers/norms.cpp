#include "layers/norms.h"

#include "layers/input_check.h"
#include "layers/types/row.h"
#include "sdk/core/error.h"
#include "sdk/ops/norm/norm.h"

namespace frugal {
namespace {

std::string ChannelText(std::int64_t channels) { return std::to_string(channels) + " channels"; }

}  // namespace

BatchNormLayer::BatchNormLayer(std::int64_t channels, const BatchNormOptions& options) {
  if (options.affine) {
    state_.parameters.weight = &AddParameter("weight", {channels}, Initializer::Constant(1));
    state_.parameters.bias = &AddParameter("bias", {channels}, Initializer::Zero());
  }
  state_.running_mean = &AddBuffer("running_mean", {channels}, Initializer::Zero());
  state_.running_variance = &AddBuffer("running_var", {channels}, Initializer::Constant(1));
  state_.epsilon = options.eps;
  state_.momentum = options.momentum;
  state_.relu = options.relu;
}

std::string BatchNormLayer::Describe() const {
  return "batch_norm " + ChannelText(state_.running_mean->shape[0]) + (state_.relu ? ", relu" : "");
}

Var BatchNormLayer::Forward(Context& context, const Var& input) {
  return BatchNorm(context, input, state_);
}

LayerNormLayer::LayerNormLayer(std::int64_t features, const LayerNormOptions& options)
    : features_(features), epsilon_(options.eps) {
  if (!options.affine) return;
  parameters_.weight = &AddParameter("weight", {features}, Initializer::Constant(1));
  parameters_.bias = &AddParameter("bias", {features}, Initializer::Zero());
}

std::string LayerNormLayer::Describe() const {
  return "layer_norm " + std::to_string(features_) + " features";
}

Var LayerNormLayer::Forward(Context& context, const Var& input) {
  // The operation checks against its parameters; a layer without any still stands by its size.
  if (parameters_.weight == nullptr) CheckWidth(context, "layer norm", features_, input);
  return LayerNorm(context, input, parameters_, epsilon_);
}

RmsNormLayer::RmsNormLayer(std::int64_t features, const RmsNormOptions& options)
    : features_(features), epsilon_(options.eps) {
  if (options.affine) weight_ = &AddParameter("weight", {features}, Initializer::Constant(1));
}

std::string RmsNormLayer::Describe() const {
  return "rms_norm " + std::to_string(features_) + " features";
}

Var RmsNormLayer::Forward(Context& context, const Var& input) {
  CheckWidth(context, "rms norm", features_, input);
  return RmsNorm(context, input, weight_, epsilon_);
}

GroupNormLayer::GroupNormLayer(std::int64_t channels, const GroupNormOptions& options)
    : channels_(channels), options_(options) {
  if (options.groups < 1 || channels % options.groups != 0) {
    throw ConfigError({.where = "group_norm",
                       .required = "groups divide the " + ChannelText(channels),
                       .given = "groups = " + std::to_string(options.groups),
                       .advice = "choose a divisor of " + std::to_string(channels)});
  }
  if (!options.affine) return;
  parameters_.weight = &AddParameter("weight", {channels}, Initializer::Constant(1));
  parameters_.bias = &AddParameter("bias", {channels}, Initializer::Zero());
}

std::string GroupNormLayer::Describe() const {
  return "group_norm " + ChannelText(channels_) + " in " + std::to_string(options_.groups) +
         " groups";
}

Var GroupNormLayer::Forward(Context& context, const Var& input) {
  if (parameters_.weight == nullptr) CheckWidth(context, "group norm", channels_, input);
  return GroupNorm(context, input, parameters_, options_.groups, options_.eps);
}

namespace {

template <class T>
Field EpsilonField() {
  return MakeField("eps", &T::eps, "Added to the variance.",
                   {.min = 0, .min_exclusive = true, .formerly = "epsilon"});
}

template <class T>
Field AffineField() {
  return MakeField("affine", &T::affine, "Whether it learns a scale and a shift.");
}

}  // namespace

LayerType BatchNormType() {
  return RowOf<BatchNormOptions>(
      "batch_norm",
      {EpsilonField<BatchNormOptions>(),
       MakeField("momentum", &BatchNormOptions::momentum,
                 "Weight of the newest batch in the running statistics.", {.min = 0, .max = 1}),
       AffineField<BatchNormOptions>(),
       MakeField("relu", &BatchNormOptions::relu, "A ReLU in the same pass.")},
      OfFeatures<BatchNormLayer>);
}

LayerType LayerNormType() {
  return RowOf<LayerNormOptions>(
      "layer_norm", {EpsilonField<LayerNormOptions>(), AffineField<LayerNormOptions>()},
      OfFeatures<LayerNormLayer>);
}

LayerType RmsNormType() {
  return RowOf<RmsNormOptions>(
      "rms_norm",
      {MakeField("eps", &RmsNormOptions::eps, "Added to the mean square.",
                 {.min = 0, .min_exclusive = true, .formerly = "epsilon"}),
       MakeField("affine", &RmsNormOptions::affine, "Whether it learns a scale.")},
      OfFeatures<RmsNormLayer>);
}

LayerType GroupNormType() {
  return RowOf<GroupNormOptions>(
      "group_norm",
      {MakeField("groups", &GroupNormOptions::groups, "Channels are split into so many groups.",
                 SizeLimits()),
       EpsilonField<GroupNormOptions>(), AffineField<GroupNormOptions>()},
      OfFeatures<GroupNormLayer>);
}

}  // namespace frugal
