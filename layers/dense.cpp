#include "layers/dense.h"

#include "layers/describe.h"
#include "layers/types/row.h"
#include "sdk/core/error.h"
#include "sdk/ops/linear.h"

namespace frugal {

Initializer DefaultInitializer(ActivationFunction activation) {
  switch (activation.kind) {
    case Activation::kIdentity:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kExp:
      return Initializer::XavierUniform();
    default:
      return Initializer::HeNormal();
  }
}

namespace {

Shape WeightShape(std::int64_t inputs, const DenseOptions& options) {
  const std::int64_t units = options.units;
  if (units >= 1) {
    return options.layout == WeightLayout::kOutIn ? Shape{units, inputs} : Shape{inputs, units};
  }
  throw ConfigError({.where = "dense",
                     .required = "units is at least 1",
                     .given = "units = " + std::to_string(units),
                     .advice = "say how many outputs the layer has"});
}

}  // namespace

Dense::Dense(std::int64_t inputs, const DenseOptions& options)
    : options_(options),
      weight_(AddParameter("weight", WeightShape(inputs, options),
                           options.initializer.value_or(DefaultInitializer(options.activation)))),
      bias_(options.bias ? &AddParameter("bias", {options.units}, Initializer::Zero()) : nullptr) {}

std::string Dense::Describe() const {
  const std::int64_t inputs = weight_.shape.ElementCount() / options_.units;
  return "dense " + std::to_string(inputs) + " -> " + std::to_string(options_.units) +
         DescribeActivation(options_.activation) + (bias_ ? "" : ", no bias");
}

std::optional<Projection> Dense::LastProjection() const {
  if (options_.activation.kind != Activation::kIdentity) return std::nullopt;
  return Projection{&weight_, bias_, options_.layout};
}

Var Dense::Forward(Context& context, const Var& input) {
  return Linear(context, input, weight_, bias_,
                {.activation = options_.activation, .layout = options_.layout});
}

LayerType DenseType() {
  return RowOf<DenseOptions>(
      "dense",
      {MakeField("units", &DenseOptions::units, "Output features.", SizeLimits(true)),
       ActivationField("activation", &DenseOptions::activation, "Behind the product."),
       MakeField("bias", &DenseOptions::bias, "Whether a bias is added."),
       MakeTable("initializer", &DenseOptions::initializer,
                 "Of the weight; none: by the activation.", InitializerFields())},
      OfFeatures<Dense>);
}

}  // namespace frugal
